"""mx.optimizer: rules that turn gradients into new weights, and the Updater that applies them by key.

``optimizer.py`` keeps the books (learning rates, multipliers, counts), one file per rule does the
arithmetic, ``updater.py`` holds the states, ``states.py`` reads and writes them.
"""

from .optimizer import Optimizer, create, register
from .sgd import SGD
from .test import Test
from .updater import Updater, get_updater

__all__ = ["SGD", "Optimizer", "Test", "Updater", "create", "get_updater", "register"]
