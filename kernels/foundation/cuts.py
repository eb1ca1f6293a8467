"""Calls that can be cut into independent parts: which kernels have such calls, and how a part is written.

The parts of a call are calls of the same kernel. Each writes numbers that no other part writes, and makes each of them
as the whole call does, so it does not matter which thread makes which part, and when. A sum is never cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, NamedTuple

WORTH = 1 << 19
"""A part has at least so many products: ten microseconds or so. To hand it over takes one."""

Given = Mapping[str, Any]
"""The arguments of a call by the names of the kernel's parameters."""


class Cut(NamedTuple):
    """How calls of a kernel are cut.

    ``count`` says how many pieces there are that may be apart, such as images, and ``work`` how many products a call
    has. ``part(given, first, last)`` are the arguments that differ in the call for the pieces from ``first`` to before
    ``last``. ``own`` names the arguments that are memory to work in: each part needs its own.
    """

    count: Callable[[Given], int]
    work: Callable[[Given], int]
    part: Callable[[Given, int, int], Given]
    own: tuple[str, ...] = ()


CUTS: dict[int, tuple[Any, Cut]] = {}
"""What has compiled a kernel, and how its calls are cut, by the former's id."""


def pieces(cut: Cut, given: Given, most: int) -> list[tuple[int, int]]:
    """The first and the last piece of each part of a call, in ``most`` parts or as many as are worth it."""
    count = cut.count(given)
    parts = max(1, min(most, count, cut.work(given) // WORTH))
    return [(count * one // parts, count * (one + 1) // parts) for one in range(parts)]


def names_of(dispatcher: Any) -> list[str]:
    """The names of a kernel's parameters; a geometry's is that of its plain tuple."""
    return [name.removeprefix("_") for name in signature(dispatcher.py_func).parameters]


__all__ = ["CUTS", "WORTH", "Cut", "Given", "names_of", "pieces"]
