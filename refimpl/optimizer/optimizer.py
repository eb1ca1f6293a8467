"""mx.optimizer.optimizer: all optimizers, in the module where MXNet 1.x has them."""

from ..ndarray import abs as NDabs  # noqa: N812  # MXNet's name
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
from .rmsprop import RMSProp
from .rule import Optimizer, create, register
from .sgd import SGD, ccSGD
from .sgld import SGLD
from .signum import Signum
from .test import Test
from .updater import Updater, get_updater

__all__ = [
    "DCASGD", "FTML", "LAMB", "LARS", "LBSGD", "NAG", "SGD", "SGLD", "AdaDelta", "AdaGrad", "Adam", "Adamax", "Ftrl",
    "NDabs", "Nadam", "Optimizer", "RMSProp", "Signum", "Test", "Updater", "ccSGD", "create", "get_updater", "register",
]
