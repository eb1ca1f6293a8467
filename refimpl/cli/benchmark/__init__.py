"""Measuring: rows as data, one process for each library, rounds in turn, tables.

``rows/`` says what is measured, ``library_process.py`` does it inside one library, ``interleaving.py`` asks the
libraries in turn, ``machine.py`` finds what the processor can do at most, ``markdown.py`` writes what was found.
"""
