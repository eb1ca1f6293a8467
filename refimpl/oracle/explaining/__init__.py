"""The explanation of a failure: the smallest program, its cause, the first wrong node or step, and the clause.

To read: ``shrinking``, then ``causes``, ``locating``, ``neighbours`` and ``clauses``.
"""
