"""The suite as files: programs with their arrays, the right results and a bound for each element, for any language.

``choosing`` chooses the programs, ``expecting`` folds every rule of a comparison into one number for each element,
``exporting`` writes the files, ``answering`` runs them on a backend in Python, and ``verdicts`` compares answers with
them, as ``judge.js`` and ``judge.c`` do without Python.
"""
