"""mx.init: the first values of parameters, chosen by the end of the parameter's name.

``mx.init`` and ``mx.initializer`` are this folder. The rules are in ``spec/initializer.md``.
"""

from .base import InitDesc, Initializer, alias, create, register
from .combined import Load, Mixed
from .drawn import MSRAPrelu, Normal, Orthogonal, Uniform, Xavier
from .fixed import Bilinear, Constant, LSTMBias, One, Zero

__all__ = [
    "Bilinear", "Constant", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed",
    "Normal", "One", "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create", "register",
]
