"""Initializers made of others: by regular expression, or from saved arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ..base import decides, refusal, require
from ..log import LOG
from ..ndarray import NDArray, load


@decides("Initializer/mixed")
class Mixed:
    """Several initializers: the first whose regular expression matches the start of the name fills it.

    Raises:
        AssertionError: the lists differ in length.
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Callable]) -> None:
        require(
            "Initializer/mixed-lengths", len(patterns) == len(initializers),
            f"{len(patterns)} patterns for {len(initializers)} initializers", AssertionError,
        )
        self.map = [(re.compile(p), i) for p, i in zip(patterns, initializers, strict=True)]

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill ``arr``.

        Raises:
            ValueError: no pattern matches.
        """
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise refusal(
            "Initializer/mixed-no-match",
            f'no pattern fits {name}; add ".*" with a default at the end', ValueError,
        )


@decides("Initializer/load")
class Load:
    """Fills from arrays: a dict of name to array, or the name of a ``.params`` file.

    Prefixes ``arg:`` and ``aux:`` are dropped. ``default_init`` fills the names that are not there.
    """

    def __init__(
        self, param: str | Mapping[str, NDArray], default_init: Callable | None = None,
        verbose: bool = False,
    ) -> None:
        found = load(param) if isinstance(param, str) else param
        require(
            "Initializer/load-names", isinstance(found, Mapping),
            "Load needs named arrays: a dict, or a file that was saved from a dict", AssertionError,
        )
        self.param = {re.sub("^(arg|aux):", "", name): array for name, array in found.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill ``arr``.

        Raises:
            AssertionError: the loaded shape differs, or the name is missing and there is no default.
        """
        found = self.param.get(name)
        if found is not None:
            require(
                "Initializer/load-shape", found.shape == arr.shape,
                f"{name} has shape {arr.shape}, the loaded array of this name {found.shape}", AssertionError,
            )
            arr[:] = found
        else:
            require(
                "Initializer/load-missing", self.default_init is not None,
                f"{name} is not among the loaded arrays ({', '.join(self.param)}): give default_init", AssertionError,
            )
            self.default_init(name, arr)  # type: ignore[misc]  # not None, as required above
        if self.verbose:
            LOG.info("%s is %s", name, "filled by default_init" if found is None else "loaded")


__all__ = ["Load", "Mixed"]
