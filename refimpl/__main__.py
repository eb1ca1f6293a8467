"""``python -m refimpl``: the command line, where the script ``refimpl`` is not on the path."""

from .cli import main

main()
