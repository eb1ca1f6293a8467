"""How far a correct implementation may be from the exact result, by element; see ``tracking`` and ``number``."""

from .arithmetic import FIRST_ORDER, RIGOROUS
from .declared import NOTHING, Declared
from .shadow import PRECISIONS, Shadow
from .tracking import tracking

__all__ = ["FIRST_ORDER", "NOTHING", "PRECISIONS", "RIGOROUS", "Declared", "Shadow", "tracking"]
