"""Runs of a cluster as data and as a page: the messages, the rounds, and what was wrong where something was.

``event_log`` records and reads events, ``runs`` makes runs, ``rounds`` finds rounds in a log, ``anomalies`` has the
words of what a history can be accused of, ``shrinking`` makes schedules smaller, and ``diagram`` and ``page`` draw.
"""

from __future__ import annotations

from .event_log import read_events, write_events
from .page import cluster_page
from .runs import cluster, cluster_script, logged

__all__ = ["cluster", "cluster_page", "cluster_script", "logged", "read_events", "write_events"]
