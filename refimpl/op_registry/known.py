"""The forward operators that MXNet 1.9.1 registers, by name, and what is said of those that are not here.

MXNet's registry also has its gradients (``_backward_*``) and NumPy's interface (``_np*``), which are left out.
Operators come in three tiers, ``Op.tier``; those that have no page here stand in ``absent.txt``.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ..base import refusal
from ..kernels.foundation import REGISTRY, Op, distinct

LIST = "`refimpl ops` lists what is"

_FILE = Path(__file__).parent / "absent.txt"


@cache
def _listed() -> tuple[tuple[int, list[str]], ...]:
    """The lines of the file: a tier, and the names of one operator, its own first."""
    lines = (line.split() for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return tuple((int(tier), own_and_others) for tier, *own_and_others in lines)


def absent() -> dict[str, str]:
    """Names of MXNet's forward operators that have no page here -> the operator's own name.

    The page of an operator that has come since counts, not its line in the file.
    """
    return {
        name: own for _, (own, *others) in _listed() if own not in REGISTRY
        for name in (own, *others) if name not in REGISTRY
    }


def tiers() -> dict[str, int]:
    """Operator of MXNet -> tier, without aliases: 426 operators, those that have no page here last."""
    here = {op.name: op.tier for op in distinct() if op.tier}
    here |= {name: tier for op in distinct() for name, tier in op.alias_tiers.items()}
    return here | {own: tier for tier, (own, *_) in _listed() if own not in REGISTRY}


def names() -> dict[str, str]:
    """Every name of MXNet's forward operators -> the operator's own name: 615 names."""
    here = {name: op.name for op in distinct() if op.tier for name in (op.name, *op.aliases)}
    here |= {name: name for op in distinct() for name in op.alias_tiers}
    return here | absent()


def near(name: str) -> list[str]:
    """At most three names of operators that are here and look like ``name``, the likeliest first."""
    return get_close_matches(name, REGISTRY, n=3)


def explanation(name: str) -> str:
    """Why there is no operator ``name`` here, in one sentence."""
    own = names().get(name)
    if own is not None:
        also = "" if own == name else f" (another name of {own})"
        return f"operator {name}{also} of MXNet 1.9.1 is not implemented here; {LIST}"
    likely = near(name)
    hint = f"did you mean {' or '.join(likely)}? " if likely else ""
    return f"there is no operator {name}, neither here nor in MXNet 1.9.1; {hint}{LIST}"


def unknown(name: str) -> Exception:
    """The error about an operator that is not here."""
    return refusal("contract/known-operator", explanation(name))


def find(name: str) -> Op:
    """The operator of a name or alias.

    Raises:
        MXNetError: there is no such operator here; the message says whether MXNet 1.9.1 has it.
    """
    found = REGISTRY.get(name)
    if found is None:
        raise unknown(name)
    return found


def missing(name: str) -> Callable[..., Any]:
    """A function that stands for an operator of MXNet that is not here: calling it raises MXNetError."""

    def function(*_: Any, **__: Any) -> Any:
        raise unknown(name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Not implemented: {explanation(name)}."
    return function


def attributes(package: str, prefix: str = "", *, internal: bool = False) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of operators, for names that it does not hold.

    An operator ``prefix`` + name of MXNet 1.9.1 that is not here is a function that says so when it is called;
    any other name is an AttributeError. Only an ``internal`` module has names that begin with an underscore.
    """

    def attribute(name: str) -> Any:
        known = prefix + name
        if name.startswith("_") == internal and known in absent():
            return missing(known)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute
