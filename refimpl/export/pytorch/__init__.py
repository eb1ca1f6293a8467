"""A prediction as a PyTorch module: its text, its weights, and the check of both."""

from .checking import Checked, check, drawn, write
from .items import RULES
from .module import Picture, Written, module
from .running import Run

__all__ = ["RULES", "Checked", "Picture", "Run", "Written", "check", "drawn", "module", "write"]
