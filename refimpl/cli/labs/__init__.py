"""Labs: tasks that a student solves, and laws of the specification that judge the solution."""

from .in_place import LAB as IN_PLACE
from .lab import Lab
from .push import LAB as PUSH
from .slicing import LAB as SLICING

LABS: dict[str, Lab] = {lab.name: lab for lab in (SLICING, PUSH, IN_PLACE)}
"""The labs by their names, in the order of the chapters."""

__all__ = ["LABS", "Lab"]
