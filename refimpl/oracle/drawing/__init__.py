"""Drawing programs: the source of choices (``draws``), graphs (``drawn_graphs``), and the steps of each level.

A program is a function of a sequence of whole numbers. They come from a seed (``draws``) or from Hypothesis
(``oracle.strategies``), so that Hypothesis can shrink the program of a seed.
"""
