"""Drawing programs: from what choices (``draws``), which graphs (``graphs``), and what is done with them (``executors``).

A program is a function of a sequence of whole numbers. ``draws`` has three sources of them: a seed, Hypothesis, and a
list that was recorded; so any program that a seed gave can be handed to Hypothesis and shrunk there.
"""
