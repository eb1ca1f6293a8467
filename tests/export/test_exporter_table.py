"""The chapter's table of MXNet's own exporter is what was recorded."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from . import networks

CHAPTER = Path(__file__).parents[2] / "spec" / "reference" / "porting" / "leave-mxnet.md"
RECORD = json.loads((networks.RECORDED / "exporter.json").read_text())
COLUMNS = ("file, onnx 1.7", "file, onnx 1.8", "prediction, onnx 1.8")


def became(name: str, column: str) -> str:
    """``right``, ``wrong`` or ``refused``."""
    return RECORD[name][column].partition(":")[0]


def test_every_network_has_its_row() -> None:
    told = {}
    for row in re.findall(r"^\| (`[^|]+) \|([^|]+)\|([^|]+)\|([^|]+)\|", CHAPTER.read_text(), re.MULTILINE):
        told |= dict.fromkeys(re.findall("`([^`]+)`", row[0]), tuple(cell.strip() for cell in row[1:]))
    assert sorted(told) == sorted([*networks.NETWORKS, *networks.FILES])
    assert told == {name: tuple(became(name, column) for column in COLUMNS) for name in told}


def test_the_numbers_are_those_of_the_record() -> None:
    counts = [Counter(became(name, column) for name in RECORD) for column in COLUMNS]
    text = " ".join(CHAPTER.read_text().split())
    first, second, third = counts
    assert f"Of the {len(RECORD)} files {first['right']} were right with onnx 1.7, and {second['right']} with" in text
    assert f"{third['right']} were right, {third['wrong']} were wrong without a word" in text
    assert f"and {third['refused']} were refused" in text
    assert all(became(name, "prediction, onnx 1.7") == became(name, "prediction, onnx 1.8") for name in RECORD)
