"""mx.image and the iterators over files of pictures give here what MXNet 1.9.1 gives, for 200 pictures each.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers/test_images.py

PATH is as in test_mxnet.py. Equal bit for bit, but for what ``spec/reference/porting/deviations.md`` says of sums
in another order.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import refimpl as mx
from tests.unit import image_files, image_programs
from tests.unit.picture_records import needs_pillow

from .asking import PYTHON, needs_mxnet

pytestmark = [pytest.mark.peer, needs_mxnet, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
# Places of ContrastJitterAug, alone and in another: a sum over the picture, in another order.
OTHERWISE = {"augmenters": {9, 11}}


def there(module: Any, expression: str, *arguments: str) -> Any:
    """What an expression on a module of tests/unit is in MXNet."""
    folder, name = Path(module.__file__).parent, Path(module.__file__).stem
    text = (
        f"import json, sys, pathlib; sys.path.insert(0, {str(folder)!r}); import mxnet as mx, {name} as program\n"
        f"print(json.dumps({expression}))"
    )
    done = subprocess.run([PYTHON, "-c", text, *arguments], capture_output=True, text=True, check=True, timeout=600)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", image_programs.PROGRAMS)
def test_functions_and_augmenters(name: str) -> None:
    theirs = there(image_programs, f"program.run(mx, {name!r}, 200)")
    ours = image_programs.run(mx, name, 200)
    assert [k for k, pair in enumerate(zip(ours, theirs, strict=True)) if len(set(pair)) > 1 and k not in
            OTHERWISE.get(name, ())] == []


@needs_pillow
def test_iterators(tmp_path: Path) -> None:
    image_files.write(tmp_path, mx.recordio)
    theirs = there(image_files, "program.run(mx, pathlib.Path(sys.argv[1]), {'verbose': False})", str(tmp_path))
    assert image_files.run(mx, tmp_path, {}) == theirs
