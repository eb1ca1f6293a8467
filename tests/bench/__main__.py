"""Does the same work here and in other libraries, in turn, and prints who took how long: see spec/records/speed.md.

    python -m tests.bench --mxnet-python PATH --torch-python PATH [--groups NAME ...] [--json FILE] [--write FILE]

This never gates anything: numbers are for reading. What is measured stands in ``refimpl/cli/benchmark/rows/``;
``refimpl bench`` measures it without the other libraries. ``python -m tests.bench.compilation`` times first calls,
page by page; ``python -m tests.bench.binding`` the growth of bind up to 50,000 nodes. ``--gpu`` measures a CUDA device
and nothing else: loops against their twins by blocks.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from refimpl.cli.benchmark import interleaving, markdown
from refimpl.cli.benchmark.rows import GROUPS
from tests.bench import devices


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and write."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__, formatter_class=form)
    parser.add_argument("--mxnet-python", help="a Python that has MXNet 1.9.1")
    parser.add_argument("--torch-python", help="a Python that has PyTorch")
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS))
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clock", default="wall", choices=["wall", "cpu"], help="cpu where the machine is busy")
    parser.add_argument("--most", type=int, default=0, help="no size above this, for trying out")
    parser.add_argument("--json", type=Path, help="write what was found here")
    parser.add_argument("--write", type=Path, help="write the tables into this chapter, between its two marks")
    parser.add_argument("--read", type=Path, help="measure nothing: take what --json wrote")
    parser.add_argument("--gpu", action="store_true", help="measure a CUDA device instead")
    options = parser.parse_args(arguments)
    if options.gpu:
        rows = devices.run(options.rounds, options.most, options.only)
        if options.json:
            options.json.write_text(json.dumps([row._asdict() for row in rows], indent=1), encoding="utf-8")
        print("".join(devices.lines(rows)), end="")
        return
    if options.read:
        found = json.loads(options.read.read_text(encoding="utf-8"))
    else:
        others = {"mxnet": options.mxnet_python, "torch": options.torch_python}
        pythons = {interleaving.OURS: sys.executable, **{name: python for name, python in others.items() if python}}
        wanted = interleaving.Wanted(
            tuple(options.groups), pythons, options.rounds, options.clock, options.only, options.most
        )
        found = interleaving.run(wanted, markdown.tell)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if options.write:
        markdown.write(found, options.write)
    print(markdown.markdown(found), end="")


if __name__ == "__main__":
    main()
