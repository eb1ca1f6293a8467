"""The files of a checkpoint, and the content of each as far as it can be read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...base import MXNetError, decides
from ...files import reading
from ...ndarray import NDArray
from ...ndarray.file_format import load_frombuffer
from ...optimizer import states as state_files
from ...util import np_shape

Data = dict[str, Any]


class Problem(NamedTuple):
    """A problem: its kind, the name or file concerned, and a sentence."""

    kind: str
    about: str
    message: str


class Content(NamedTuple):
    """A file of a checkpoint: its bytes, or the reason why it cannot be read."""

    file: str
    raw: bytes | None
    problem: Problem | None

    def told(self) -> Data:
        """Name and size, for a report."""
        return {"file": self.file, "bytes": None if self.raw is None else len(self.raw)}


def opened(file: str) -> Content:
    """The content of a file that should be there."""
    try:
        return Content(file, reading.read_file(file), None)
    except FileNotFoundError:
        return Content(file, None, Problem("missing-file", file, f"{file} does not exist"))
    except OSError as error:
        return Content(file, None, Problem("damaged-file", file, f"cannot read {file}: {error.strerror}"))


# --- parameters -----------------------------------------------------------------------------------


class Arrays(NamedTuple):
    """The content of a params file; ``read`` is false where it could not be read."""

    arguments: dict[str, NDArray]
    auxiliary: dict[str, NDArray]
    problems: list[Problem]
    read: bool
    np_shape: bool = False


@decides("Inspect/arrays")
def arrays(content: Content) -> Arrays:
    """The arrays of a params file, and the problems of their names and values."""
    if content.raw is None:
        return Arrays({}, {}, [], False)
    found, scope = None, False
    for scope in (False, True):
        try:
            with np_shape(scope):
                found = load_frombuffer(content.raw, content.file)
        except MXNetError as error:
            if getattr(error, "clause", "") == "params-file/np-shape" and not scope:
                continue
            return Arrays({}, {}, [Problem("damaged-file", content.file, plain(error))], False)
        break
    made = Arrays({}, {}, [], True, scope)
    if isinstance(found, list):
        if found:
            text = f"{content.file} holds {len(found)} arrays without names; a checkpoint names them arg:NAME, aux:NAME"
            made.problems.append(Problem("unnamed-arrays", content.file, text))
        return made
    for key, array in (found or {}).items():
        kind, _, name = key.partition(":")
        if kind not in ("arg", "aux") or ":" not in key:
            made.problems.append(Problem("unknown-name", key, f"{key} is named neither arg:NAME nor aux:NAME"))
        elif array is None:
            made.problems.append(Problem("unallocated", name, f"{key} was saved without ever having had a value"))
        else:
            (made.arguments if kind == "arg" else made.auxiliary)[name] = array
            made.problems.extend(_not_finite(name, array))
    return made


def _stored(array: Any) -> np.ndarray:
    """The values that are stored of an array."""
    return (array if array.stype == "default" else array.data).asnumpy()


@decides("Inspect/not-finite")
def _not_finite(name: str, array: Any) -> Iterator[Problem]:
    """The problem of an array with NaN or infinite values."""
    values = _stored(array)
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    wrong = ~np.isfinite(values)
    missing = int(np.isnan(values).sum())
    place = ", ".join(str(int(i)) for i in np.unravel_index(int(np.argmax(wrong)), values.shape))
    stored = "" if array.stype == "default" else " of what is stored"
    yield Problem(
        "not-finite", name,
        f"{name} has {missing} NaN and {int(wrong.sum()) - missing} infinite values of {values.size}, the first at"
        f" [{place}]{stored}",
    )


def described(name: str, array: Any) -> Data:
    """Name, shape, type, storage and size of an array."""
    values = _stored(array)
    return {
        "name": name, "shape": list(array.shape), "dtype": np.dtype(array.dtype).name, "storage": array.stype,
        "numbers": int(values.size), "bytes": int(values.nbytes),
    }


# --- states ---------------------------------------------------------------------------------------


@decides("Inspect/states")
def states(content: Content, params: Content) -> tuple[Data | None, list[Problem]]:
    """The content of a ``.states`` file, and its problems."""
    if content.raw is None:
        return None, []
    try:
        held, optimizer = state_files.loads(content.raw, content.file)
    except MXNetError as error:
        return None, [Problem("damaged-file", content.file, plain(error))]
    problems = []
    mark = state_files.saved_with(content.raw)
    if mark and params.raw is not None and mark != hashlib.sha256(params.raw).hexdigest():
        text = f"{content.file} was saved with other parameters than those of {params.file}"
        problems.append(Problem("states-of-others", content.file, text))
    numbers = 0
    for key, state in held.items():
        for array in _within(state):
            numbers += int(_stored(array).size)
            problems.extend(_not_finite(f"state of {key}", array))
    kind = None if optimizer is None else type(optimizer).__name__
    return {"optimizer": kind, "keys": [str(key) for key in held], "numbers": numbers}, problems


def _within(state: Any) -> Iterator[NDArray]:
    """The arrays of one state."""
    waiting, seen = [state], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, NDArray):
            yield part
        elif isinstance(part, (tuple, list)) and id(part) not in seen:
            seen.add(id(part))
            waiting.extend(part)


def plain(error: BaseException) -> str:
    """The text of a refusal without the clause in brackets."""
    clause = getattr(error, "clause", None)
    return " ".join(str(error).removesuffix(f" [{clause}]").split())


__all__ = ["Arrays", "Content", "Data", "Problem", "arrays", "described", "opened", "plain", "states"]
