"""Measuring: rows as data, one process for each library, rounds in turn, tables.

``rows/`` lists the measurements, ``library_process.py`` runs them inside one library, ``interleaving.py`` asks the
libraries in turn, ``machine.py`` measures the peak of the processor, ``markdown.py`` writes the results.
"""
