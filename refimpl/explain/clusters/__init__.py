"""Runs of a cluster as data and as a page: messages, rounds, and violations of the store's rules.

``event_log`` records and reads events, ``runs`` makes runs, ``rounds`` finds rounds in a log, ``anomalies`` describes
each violation in words, ``shrinking`` makes schedules smaller, and ``diagram`` and ``page`` draw.
"""

from __future__ import annotations

from .event_log import read_events, write_events
from .page import cluster_page
from .runs import cluster, cluster_script, logged

__all__ = ["cluster", "cluster_page", "cluster_script", "logged", "read_events", "write_events"]
