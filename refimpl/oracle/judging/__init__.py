"""Whether a trace is right: the expected values and bounds, and the comparison of every element.

To read: ``reference`` (a program run here, in double precision, with bounds), then ``comparing``. Random numbers are
judged by ``statistical``, histories of a cluster by ``cluster_histories``; ``tape`` is a witness that shares no code
with them.
"""
