"""refimpl.cli.porting: scripts written for MXNet run unchanged, or are read for what they use that is missing."""

from __future__ import annotations

from .checking import Finding, Report, check
from .running import run

__all__ = ["Finding", "Report", "check", "run"]
