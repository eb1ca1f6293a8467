"""refimpl.cli.porting: run scripts written for MXNet unchanged, or list the names in them that are missing here."""

from __future__ import annotations

from .checking import Finding, Report, check
from .running import run

__all__ = ["Finding", "Report", "check", "run"]
