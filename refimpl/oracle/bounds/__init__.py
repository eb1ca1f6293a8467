"""How far a correct implementation may be from the exact result, element by element; see ``shadow`` and ``number``."""

from .shadow import PRECISIONS, Shadow, tracking

__all__ = ["PRECISIONS", "Shadow", "tracking"]
