"""refimpl.explain: one training step, shown whole: data first, then a page.

``step``, ``script``, ``checkpoint`` and ``digits`` run one step of a module, a script, a checkpoint or the packaged
digits and return plain data; ``page`` makes one HTML file of the data. ``cluster``, ``cluster_script`` and ``logged``
return the events of a cluster, and ``cluster_page`` makes a page of them.
"""

from __future__ import annotations

from .clusters import cluster, cluster_page, cluster_script, logged, read_events, write_events
from .page import page
from .sources import checkpoint, digits, script, step

__all__ = [
    "checkpoint", "cluster", "cluster_page", "cluster_script", "digits", "logged", "page", "read_events", "script",
    "step", "write_events",
]
