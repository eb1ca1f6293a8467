"""Drawing programs: from what choices (``draws``), which graphs (``drawn_graphs``), and what is done with them.

A program is a function of a sequence of whole numbers. They come from a seed (``draws``) or from Hypothesis
(``oracle.strategies``), so that what a seed gave can be handed to Hypothesis and shrunk there.
"""
