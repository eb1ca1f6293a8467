"""mx.optimizer: rules that turn gradients into new weights, and the Updater that applies them by key.

``optimizer.py`` keeps the books (learning rates, multipliers, counts), one file per rule says its formula and
does the arithmetic by an operator of ``kernels/`` (``apply.py`` calls it), ``grouped.py`` is for rules that are
given several parameters at once, ``updater.py`` holds the states, ``states.py`` reads and writes them.
"""

from ..ndarray import abs as NDabs  # noqa: N812  # MXNet's name
from . import contrib
from .adadelta import AdaDelta
from .adagrad import AdaGrad
from .adam import Adam
from .adamax import Adamax
from .dcasgd import DCASGD
from .ftml import FTML
from .ftrl import Ftrl
from .lamb import LAMB
from .lars import LARS
from .lbsgd import LBSGD
from .nadam import Nadam
from .nag import NAG
from .optimizer import Optimizer, create, register
from .rmsprop import RMSProp
from .sgd import SGD, ccSGD
from .sgld import SGLD
from .signum import Signum
from .test import Test
from .updater import REMEMBERING, Updater, get_updater

__all__ = [
    "DCASGD",
    "FTML",
    "LAMB",
    "LARS",
    "LBSGD",
    "NAG",
    "REMEMBERING",
    "SGD",
    "SGLD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Adamax",
    "Ftrl",
    "NDabs",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "contrib",
    "create",
    "get_updater",
    "register",
]
