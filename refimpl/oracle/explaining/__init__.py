"""What a failure means: the smallest program that shows it, its cause, where it goes wrong first, and the clause.

To read: ``shrinking``, then ``causes``, ``locating``, ``neighbours`` and ``clauses``.
"""
