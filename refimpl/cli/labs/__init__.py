"""Labs: tasks that a student solves, and laws of the specification that judge the solution."""

from .bucketing_lab import LAB as BUCKETING
from .dist_sync_lab import LAB as DIST_SYNC
from .gradient_lab import LAB as GRADIENT
from .in_place_lab import LAB as IN_PLACE
from .kernel_lab import LAB as KERNEL
from .lab import Lab
from .push_lab import LAB as PUSH
from .slicing_lab import LAB as SLICING
from .svrg_lab import LAB as SVRG

LABS: dict[str, Lab] = {lab.name: lab for lab in (
    SLICING, PUSH, IN_PLACE, GRADIENT, BUCKETING, DIST_SYNC, SVRG, KERNEL,
)}
"""The labs by their names, in the order of the chapters."""

__all__ = ["LABS", "Lab"]
