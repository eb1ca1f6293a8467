"""Whether a trace is right: what the reference expects, and every element held to it.

To read: ``reference`` (a program run here, in double precision, with bounds), then ``comparing``. Random numbers are
judged by ``statistical``, histories of a cluster by ``cluster_histories``; ``tape`` is a witness that shares no code
with them.
"""
