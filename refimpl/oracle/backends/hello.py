"""The first message of a worker: the version of the protocol, and what the worker says about its backend."""

from __future__ import annotations

import json
from typing import Any

from ...base import decides
from ..bounds.declared import CHOICES, Declared
from ..drawing.choices import Capabilities
from ..programs.fields import by_name, either, fields, listed, maybe, name, one_of, real, says, text, truth, whole
from ..programs.messages import PROTOCOL
from ..programs.values import DTYPES, STYLES
from .protocol import declared_of

MOST_NAMES = 10_000
MOST_TOGETHER = 1000
_NAMES = listed(name, MOST_NAMES)
CAPABILITIES = fields(
    level=whole(0, 7), operators_=maybe(_NAMES), dtypes_=listed(one_of(*DTYPES)), styles_=listed(one_of(*STYLES)),
    requirements_=listed(one_of("write", "add", "null")), most_operators_=whole(1, 100), empty_=truth,
    others_=listed(whole(1, 7)), corners_=truth,
)
_FIELDS_OF_ARITHMETIC = fields(
    products_=one_of(*filter(None, CHOICES["products"])), sums_=one_of(*filter(None, CHOICES["sums"])),
    truncated_=truth, flushed_=one_of(*CHOICES["flushed"]), fused_=one_of(*CHOICES["fused"]),
    ulps_=by_name(either(real, text)), bits_=truth,
)


@says(_FIELDS_OF_ARITHMETIC.schema)  # type: ignore[untyped-decorator]
def arithmetic(value: Any) -> str | None:
    """An arithmetic that is declared, see ``bounds.declared``."""
    wrong: str | None = _FIELDS_OF_ARITHMETIC(value)
    if wrong is None:
        try:
            Declared(**value)
        except ValueError as error:
            return str(error)
    return wrong


HELLO = fields(
    protocol=whole(PROTOCOL, PROTOCOL), version_=text, describe_=text, inline_=truth, forks_=truth,
    capabilities_=CAPABILITIES, declares_=arithmetic, leaves_out_=_NAMES, names_=_NAMES, pack_=whole(1, MOST_TOGETHER),
)
"""What the first message may hold; its chapter says what each field means."""


@decides("oracle/protocol-version")
def check_hello(hello: dict[str, Any]) -> str | None:
    """What is wrong with a first message, or None."""
    said = hello.get("protocol")
    if said is None:
        return f"it names no protocol; write protocol: {PROTOCOL}"
    if type(said) is int and said != PROTOCOL:
        return f"it speaks protocol {said}; this version of refimpl speaks {PROTOCOL}"
    return HELLO(hello)


def capabilities_of(hello: dict[str, Any]) -> Capabilities:
    """The capabilities in a first message that was checked; the defaults where it names none."""
    said = dict(hello.get("capabilities", {}))
    if said.get("operators") is not None:
        said["operators"] = frozenset(said["operators"])
    options: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said.items()}
    return Capabilities(**options)


def hello_of(backend: Any) -> dict[str, Any]:
    """The first message of a worker in Python, about the backend that it serves."""
    said = backend.capabilities._asdict()
    if said["operators"] is not None:
        said["operators"] = sorted(said["operators"])
    described, pack = getattr(backend, "describe", None), getattr(backend, "pack", 1)
    return {
        "capabilities": json.loads(json.dumps(said)), "version": str(getattr(backend, "version", "")),
        "describe": described() if callable(described) else "", "leaves_out": list(getattr(backend, "leaves_out", ())),
        "declares": declared_of(backend).as_fields(),
        **({"pack": pack} if pack > 1 and hasattr(backend, "run_many") else {}),
    }
