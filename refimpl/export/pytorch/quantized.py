"""Rules of quantized networks."""

from __future__ import annotations

from .layers import Rule

QUANTIZED: dict[str, Rule] = {}

__all__ = ["QUANTIZED"]
