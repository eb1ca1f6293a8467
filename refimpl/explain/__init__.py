"""refimpl.explain: one training step, shown whole: data first, then a page.

``step``, ``script``, ``checkpoint`` and ``digits`` say where the step comes from, and return plain data; ``page``
makes one HTML file of it.
"""

from __future__ import annotations

from .page import page
from .sources import checkpoint, digits, script, step

__all__ = ["checkpoint", "digits", "page", "script", "step"]
