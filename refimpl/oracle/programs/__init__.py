"""Programs as data: what they are (``program``), what arrays they name (``values``), what running them means
(``interpreter``).

These files import the standard library and NumPy only, and read like Python 3.8, because a copy of them runs inside the
implementation under test: MXNet 1.9.1 interprets the same text.
"""
