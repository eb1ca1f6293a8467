"""Labs: tasks that a student solves, and laws of the specification that judge the solution."""

from .lab import Lab
from .slicing import LAB as SLICING

LABS: dict[str, Lab] = {lab.name: lab for lab in (SLICING,)}
"""The labs by their names, in the order of the chapters."""

__all__ = ["LABS", "Lab"]
