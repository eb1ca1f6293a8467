"""mx.optimizer: rules that turn gradients into new weights, and the Updater that applies a rule by key.

``rule.py`` has the learning rates, multipliers and update counts. One file per rule has its formula, and calls an
operator of ``kernels/`` for the arithmetic (by ``apply.py``). ``updater.py`` holds the states, ``states.py`` reads
and writes them. ``optimizer.py`` is the module in which MXNet has all optimizers.
"""

from . import contrib, optimizer
from .optimizer import *  # noqa: F403  # the optimizers, create, register, Updater, get_updater

__all__ = ["contrib", "optimizer"]
__all__ += optimizer.__all__
