"""Labs: tasks that a student solves, and laws of the specification that judge the solution."""

from .bucketing import LAB as BUCKETING
from .dist_sync import LAB as DIST_SYNC
from .gradient import LAB as GRADIENT
from .in_place import LAB as IN_PLACE
from .kernel import LAB as KERNEL
from .lab import Lab
from .push import LAB as PUSH
from .slicing import LAB as SLICING
from .svrg import LAB as SVRG

LABS: dict[str, Lab] = {lab.name: lab for lab in (
    SLICING, PUSH, IN_PLACE, GRADIENT, BUCKETING, DIST_SYNC, SVRG, KERNEL,
)}
"""The labs by their names, in the order of the chapters."""

__all__ = ["LABS", "Lab"]
