"""refimpl.explain: one training step, shown whole: data first, then a page.

``step``, ``script``, ``checkpoint`` and ``digits`` say where the step comes from, and return plain data; ``page``
makes one HTML file of it. ``cluster``, ``cluster_script`` and ``logged`` say what happened in a cluster, and
``cluster_page`` makes a page of that.
"""

from __future__ import annotations

from .clusters import cluster, cluster_page, cluster_script, logged, read_events, write_events
from .page import page
from .sources import checkpoint, digits, script, step

__all__ = [
    "checkpoint", "cluster", "cluster_page", "cluster_script", "digits", "logged", "page", "read_events", "script",
    "step", "write_events",
]
