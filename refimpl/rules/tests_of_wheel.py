"""The source of the tests that prove rules, where no tests are: the wheel's build writes it (``spec/wheel.py``)."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("tests.json.gz")


@cache
def known() -> dict[str, tuple[int, str]]:
    """``FILE::NAME`` -> first line and source; empty without the file."""
    if not FILE.is_file():
        return {}
    return json.loads(gzip.decompress(FILE.read_bytes()))


def found(place: str) -> tuple[str, int, str, str]:
    """File, first line, name and source of a test; line 0 and no source where nothing is known of it."""
    file, _, name = place.partition("::")
    line, source = known().get(place, (0, ""))
    return file, line, name, source
