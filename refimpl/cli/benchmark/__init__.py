"""Measuring: rows as data, one process for each library, rounds in turn, tables.

``rows/`` says what is measured, ``server.py`` does it inside one library, ``running.py`` asks the libraries in turn,
``machine.py`` finds what the processor can do at most, ``tables.py`` writes what was found.
"""
