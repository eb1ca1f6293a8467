"""How far a correct implementation may be from the exact result, element by element; see ``shadow`` and ``number``."""

from .arithmetic import FIRST_ORDER, RIGOROUS
from .shadow import PRECISIONS, Shadow, tracking

__all__ = ["FIRST_ORDER", "PRECISIONS", "RIGOROUS", "Shadow", "tracking"]
