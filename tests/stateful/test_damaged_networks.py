"""``refimpl verify`` on damaged networks: it names the layer always, and the kind of damage nearly always.

The long lane draws five of each kind (a minute of one core; REFIMPL_SEED chooses others), the default run a tenth.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import pytest

import refimpl as mx
from refimpl.cli import verifying
from refimpl.cli.loaded import Network as Loaded

from .damaged_networks import DAMAGES, FOLDER, NETWORKS, computed, data, network

SEED = int(os.environ.get("REFIMPL_SEED", "18"))


class Result(NamedTuple):
    """A damaged network, and what was said of it."""

    name: str
    kind: str
    layer: str
    found: dict[str, str] | None


def damaged(kind: str, number: int, seed: int) -> Result:
    """Damage a network, compute with it, and verify the undamaged one against that."""
    draw = np.random.default_rng([seed, sorted(DAMAGES).index(kind), number])
    damage, names = DAMAGES[kind]
    name = names[number % len(names)]
    given, whole = data(name, draw), network(name)
    right = computed(whole, given)
    for _ in range(200):
        held = whole.copy()
        try:
            layer = damage(held, draw)
            wrong = computed(held, given)
        except (LookupError, mx.MXNetError):
            continue  # nothing to damage so, or what comes out does not fit together
        if not np.array_equal(right[f"{layer}_output"], wrong[f"{layer}_output"]):  # its inputs may be 0
            break
    else:
        pytest.fail(f"{name} cannot be damaged so: {kind}")
    found = verifying.verified(Loaded(str(FOLDER / name), 0), {"data": given}, wrong)
    return Result(name, kind, layer, found["first"])


def judged(results: list[Result]) -> tuple[int, int]:
    """How many layers and how many kinds are right."""
    layers = [r for r in results if r.found is not None and r.found["layer"] == r.layer]
    kinds = [r for r in layers if r.found is not None and r.found["kind"] == r.kind]
    for result in results:
        if result not in kinds:
            print(result)  # pytest shows it where the law fails
    return len(layers), len(kinds)


@pytest.mark.long
@pytest.mark.clause("Verify/first", "Verify/kinds")
def test_damage_is_found_and_named() -> None:
    results = [damaged(kind, number, SEED) for kind in DAMAGES for number in range(5)]
    layers, kinds = judged(results)
    assert layers == 50
    assert kinds >= 45


@pytest.mark.clause("Verify/first", "Verify/kinds")
@pytest.mark.parametrize("kind", ["bias-missing", "channels-swapped", "half-precision", "nan", "pad-or-stride"])
def test_some_damage_is_found_and_named(kind: str) -> None:
    result = damaged(kind, 0, SEED)
    assert result.found is not None
    assert (result.found["layer"], result.found["kind"]) == (result.layer, kind)


@pytest.mark.clause("Verify/bounds")
@pytest.mark.parametrize("name", [
    "resnet-v1", *(pytest.param(name, marks=pytest.mark.heavy) for name in NETWORKS if name != "resnet-v1"),
])
def test_nothing_is_said_of_undamaged_networks(name: str) -> None:
    draw = np.random.default_rng(SEED)
    given = data(name, draw)
    found = verifying.verified(Loaded(str(FOLDER / name), 0), {"data": given}, computed(network(name), given))
    assert found["first"] is None
    assert {row["verdict"] for row in found["outputs"]} == {"equal"}
