"""The score: how many faults that were put in on purpose the oracle finds, and how fast.

``faults`` has the table, ``copies`` makes an implementation with one of them, ``fault_search`` searches it.
"""
