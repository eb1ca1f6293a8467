"""Every operator, and what there is of it: a page of the site.

    python spec/ops.py            prints the page, as Markdown
    python spec/ops.py --check    prints only what operators owe; exit code 1 when one owes something

The facts are read from the pages (``refimpl/op_registry/facts.py``). By hand are only the reasons below: why an
operator of MXNet is missing, and why a loop runs in one thread on CUDA.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import refimpl  # noqa: E402, F401  # every operator registers, the one written in Python too
from refimpl.kernels import distinct  # noqa: E402
from refimpl.kernels.foundation import REGISTRY, Op  # noqa: E402
from refimpl.op_registry import facts  # noqa: E402
from refimpl.op_registry import known as known_operators  # noqa: E402

UNWRITTEN = "no page yet"

# An operator that is missing -> why, by the first pattern that fits.
MISSING: tuple[tuple[str, str], ...] = (
    ("_NoGradient", "a mark inside MXNet's gradient pass, never a node of a saved graph"),
    ("_broadcast_backward|_split_v2_backward|_contrib_backward_.*", "a gradient; here the page of its operator has it"),
    ("_contrib_quantize_asym", "MXNet 1.9.1 itself ends the process in it"),
    ("_contrib_quantized_rnn", "computes as one processor library does, which cannot be had exactly"),
    ("_sg_mkldnn_.*|_contrib_BatchNormWithReLU", "made by fusing other operators for one processor library"),
    ("_imdecode", "prepares pictures; mx.image does that before a batch is made"),
    ("_contrib_dgl_.*|_contrib_edge_id", "samples graphs for another library"),
    (
        "_contrib_(hawkesll|count_sketch|i?fft|.*_ste|bipartite_matching|box_..code|.*Deformable.*)",
        "a contributed operator outside the networks that this project follows",
    ),
)

# An operator of MXNet that is here, but is no operator -> what it is.
ELSEWHERE: dict[str, str] = {
    "_set_value": "the function `mx.nd._internal._set_value`: its shape comes from `out` alone",
    "_CachedOp": "the class `mx.nd.CachedOp`",
    "_CachedOpThreadSafe": "the class `mx.nd.CachedOp`",
    "_CustomFunction": "the class `mx.autograd.Function`",
    "_contrib_boolean_mask": "the function `mx.nd.contrib.boolean_mask`: its shape depends on values",
    "_cvimdecode": "the function `mx.nd._internal._cvimdecode`: its shape depends on the file",
    "_cvimread": "the function `mx.nd._internal._cvimread`: its shape depends on the file",
    "_Native": "the class `mx.operator.NumpyOp`, which is a Custom operator underneath",
    "_NDArray": "the class `mx.operator.NDArrayOp`, which is a Custom operator underneath",
}

BORROWED = "of what it runs"
_SHORT = {
    "float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "uint8": "u8", "int32": "i32",
    "int64": "i64", "bool": "b",
}
HEADINGS = (
    "operator", "tier", "page", "cpu", "cuda", "gradient", "second gradient", "types", "sparse", "clauses", "examples",
)


class Row(NamedTuple):
    """One line of the matrix, as text."""

    operator: str
    tier: str
    page: str
    cpu: str
    cuda: str
    gradient: str
    second: str
    types: str
    sparse: str
    clauses: str
    examples: str


def tier_of(op: Op) -> int | None:
    """The tier of the operator, or else of the one that MXNet has under an alias of it."""
    return op.tier or next(iter(op.alias_tiers.values()), None)


def row_of(op: Op) -> Row:
    """Everything about one operator."""
    loops = facts.forward_loops(op)
    alone = facts.single_threaded(op)
    storages = sorted({word for line in facts.storages(op) for word in re.findall("csr|row_sparse", line)})
    kinds = [_SHORT[kind] for kind in facts.dtypes(op)]
    own, whole = facts.examples(op), facts.page_examples(op)
    tier = tier_of(op)
    return Row(
        op.name,
        str(tier) if tier else "",
        f"[{Path(facts.file_of(op)).stem}]({facts.file_of(op)})",
        f"{len(loops)} loop{'s' * (len(loops) != 1)}" if loops else BORROWED if op.without_loops else "NO",
        BORROWED if op.without_loops else "NO" if not loops else "in part alone" if alone else "yes",
        facts.gradient_kind(op) if op.has_gradient else f"none: {facts.denial(op)}",
        "yes" if op.gradient is not None else "",
        "all" if len(kinds) == len(_SHORT) else " ".join(kinds),
        ", ".join(storages),
        str(len(facts.clauses(op))),
        str(own) if own else f"(page: {whole})",
    )


def owed(op: Op) -> Iterator[str]:
    """What an operator lacks that every operator must have."""
    if not facts.forward_loops(op) and not op.without_loops:
        yield f"{op.name}: no loops; say in without_loops why, if it needs none"
    if not op.has_gradient and facts.takes_inputs(op) and "/" not in facts.denial(op):
        yield f"{op.name}: neither a gradient nor a clause that refuses it"
    if op.without_loops:
        return
    if not facts.page_examples(op):
        yield f"{op.name}: its page has no worked example"
    if not facts.clauses(op):
        yield f"{op.name}: no clause of its page is about it"
    if op.cases is None:
        yield f"{op.name}: its page draws no valid calls (cases)"
    alone = [name.rpartition(".")[2] for name in facts.single_threaded(op)]
    for name in alone:
        if name not in op.runs_alone:
            yield f"{op.name}: the loop {name} is one item, so one CUDA thread runs it; say why in runs_alone"
    yield from (f"{op.name}: runs_alone names {name}, which does not" for name in op.runs_alone if name not in alone)


def reason(name: str) -> str:
    """Why an operator of MXNet is missing here."""
    return next((why for pattern, why in MISSING if re.fullmatch(pattern, name)), UNWRITTEN)


def missing() -> dict[str, int]:
    """Operators of MXNet that are not here in any form -> tier."""
    here = {*REGISTRY, *ELSEWHERE}
    return {name: tier for name, tier in known_operators.tiers().items() if name not in here}


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(each)} |" for each in (headings, ("---",) * len(headings), *rows)] + [""]


def _counts(public: list[Op]) -> list[str]:
    absent, tiers = missing(), known_operators.tiers()
    count = str(len(public))
    lines = []
    for tier in (1, 2, 3):
        whole = [name for name, its in tiers.items() if its == tier]
        other = [name for name in whole if name in ELSEWHERE]
        here = str(sum(name not in absent for name in whole))
        here += f", {len(other)} of them in another form" if other else ""
        lines.append((f"tier {tier} of MXNet 1.9.1", here, str(len(whole))))
    lines.append(("operators beyond these tiers", str(sum(tier_of(op) is None for op in public)), ""))
    lines.append(("**distinct operators**", count, ""))
    floats = [op for op in public if {"float32", "float64"} & set(facts.dtypes(op))]
    device = [op for op in floats if facts.forward_loops(op)]
    spread = [op for op in device if not facts.single_threaded(op)]
    lines += [
        ("of those that compute real numbers: with CUDA loops", str(len(device)), str(len(floats))),
        ("of those: all loops on many threads", str(len(spread)), str(len(floats))),
        ("with a gradient", str(sum(op.has_gradient for op in public)), count),
        ("with a second gradient", str(sum(op.gradient is not None for op in public)), count),
        ("with a worked example of their own", str(sum(bool(facts.examples(op)) for op in public)), count),
    ]
    return _table(("what", "here", "of"), lines)


def _missing() -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for name, tier in missing().items():
        by_reason.setdefault(reason(name), []).append(f"`{name}` ({tier})")
    rows = [(", ".join(names), why) for why, names in sorted(by_reason.items())]
    return _table(("operators (tier)", "why they are missing"), rows) if rows else ["None.", ""]


def _elsewhere() -> list[str]:
    return _table(("MXNet's operator", "is here"), [
        (f"`{name}`", what) for name, what in ELSEWHERE.items() if name not in REGISTRY
    ])


def _alone(operators: list[Op]) -> list[str]:
    users: dict[str, list[Op]] = {}
    for op in operators:
        for name in facts.single_threaded(op):
            users.setdefault(name, []).append(op)
    rows = []
    for name, ops in sorted(users.items()):
        why = ops[0].runs_alone.get(name.rpartition(".")[2], "NO REASON GIVEN")
        rows.append((f"`{name}`", ", ".join(op.name for op in ops), why))
    rows += [("none", op.name, op.without_loops) for op in operators if op.without_loops]
    return _table(("loop", "operators", "why"), rows)


def text() -> str:
    """The whole page; its links begin at the root of the tree."""
    operators = distinct()
    public = [op for op in operators if not facts.is_internal(op)]
    inner = [op for op in operators if facts.is_internal(op)]
    intro = textwrap.dedent("""\
        # What there is of each operator

        Made from the pages by `python spec/ops.py`. `refimpl ops NAME` prints the page of one.

        How to read the matrix. cpu: how many loops forward may run. cuda: every loop is written once for both
        devices; "in part alone" says that one thread runs some of them, which are listed below. gradient: by loops
        of its own, by composition of other operators, or none and the clause that says so. second gradient: whether
        the gradient can be differentiated. types: what inference accepts of the first input. sparse: storages that have
        a form of their own, all others go through dense copies. clauses: how many rules of the page concern the
        operator. examples: how many worked examples run it; in brackets those of its page, where none runs this row
        of a family.
        """)
    parts = [
        *intro.splitlines(), "",
        "## Counts", "", *_counts(public),
        "## Missing", "",
        "Calling one, or loading a graph that holds one, raises `MXNetError` with its name [contract/known-operator].",
        "", *_missing(),
        "## Here in another form", "",
        *_elsewhere(),
        "## CUDA: absent, or in one thread", "", *_alone(operators),
        "## The matrix", "", *_table(HEADINGS, [row_of(op) for op in public]),
        "## Operators inside gradients", "",
        "Nobody calls these; gradients are made of them.", "",
        *_table(HEADINGS, [row_of(op) for op in inner]),
    ]
    return "\n".join(parts).rstrip() + "\n"


def problems() -> list[str]:
    """What any operator owes, and reasons that are out of date."""
    return [line for op in distinct() for line in owed(op)]


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    parser = argparse.ArgumentParser(description="The matrix of operators.")
    parser.add_argument("--check", action="store_true", help="print only what operators owe; fail when one does")
    if not parser.parse_args(arguments).check:
        print(text(), end="")
        return 0
    found = problems()
    for problem in found:
        print(problem)
    print(f"{len(distinct())} operators, {len(missing())} missing, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
