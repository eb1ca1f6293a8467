"""mx.optimizer: rules that turn gradients into new weights, and the Updater that applies them by key.

``rule.py`` keeps the books (learning rates, multipliers, counts), one file per rule says its formula and
does the arithmetic by an operator of ``kernels/`` (``apply.py`` calls it), ``grouped.py`` is for rules that are
given several parameters at once, ``updater.py`` holds the states, ``states.py`` reads and writes them.
``optimizer.py`` is MXNet's name for all of them.
"""

from . import contrib, optimizer
from .optimizer import *  # noqa: F403  # the optimizers, create, register, Updater, get_updater
from .updater import REMEMBERING

__all__ = ["REMEMBERING", "contrib", "optimizer"]
__all__ += optimizer.__all__
