"""The laws that hold for every operator, each written once as ``law(op, draw)``.

A law draws a valid call of the operator and raises AssertionError when the page breaks it. ``tests/laws`` applies every
law to every page, ``tests/meta`` to pages broken on purpose, and a lab to those of students (``refimpl lab``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...kernels.foundation import UNKNOWN, MXNetError, Op, decides, known, plain_kernels
from ...kernels.foundation import run as runner
from ...kernels.foundation.buffer import allocate
from ...kernels.foundation.loop import python_loops
from .calls import NAN, OTHER, Trial, gradient_inputs, has_gradient, out_types, widened
from .compiled_math import given_compiled
from .draws import Draw, Example, example

Results = Sequence[np.ndarray | None]
Law = Callable[[Op, Draw], None]
ASSUMED = {"FullyConnected": ("bias",), "LeakyReLU": ("gamma",), "_rnn_param_concat": ("arg",)}  # one shape of several


# --- comparing -----------------------------------------------------------------------------------


def same(left: Results, right: Results, why: object) -> None:
    """Demand equal bits (any NaN equals any other)."""
    assert len(left) == len(right), why
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        if a is None or b is None:
            assert a is b, f"{why}: result {index}"
        elif a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():  # quicker than NumPy's assertion
            np.testing.assert_array_equal(a, b, f"{why}: result {index}", strict=True)
            negative = [np.signbit(r) & (r == 0) for r in (a, b) if r.dtype.kind == "f"]
            np.testing.assert_array_equal(negative[:1], negative[1:], f"{why}: zeros below 0 in result {index}")


def near(left: Results, right: Results, eps: float, why: object) -> None:
    """Demand agreement to ``eps`` times each result's largest magnitude."""
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        if a is None or b is None:
            assert a is b, f"{why}: result {index}"
            continue
        finite = np.abs(b[np.isfinite(b)].astype(np.float64))
        largest = max(1.0, float(finite.max())) if finite.size else 1.0
        np.testing.assert_allclose(
            a.astype(np.float64), b.astype(np.float64), rtol=eps, atol=eps * largest,
            err_msg=f"{why}: result {index}",
        )


def both_ways(of: Example, **options: Any) -> Results:
    """Outputs, then gradients where there are any."""
    trial = Trial(of, **options)
    results: list[np.ndarray | None] = [*trial.forward()]
    if has_gradient(of):
        results += trial.backward()
    assert not trial.overrun(), f"{of} wrote outside its arrays"
    return results


def _training(op: Op, draw: Draw) -> bool:
    return op.mode and draw.boolean()


# --- memory --------------------------------------------------------------------------------------


@decides("contract/fills")
def fills_outputs(op: Op, draw: Draw) -> None:
    """Every element of every output is written, and no memory outside, whatever the memory held before."""
    of, train = example(op, draw), _training(op, draw)
    first = Trial(of, is_train=train, poison=NAN)
    second = Trial(of, is_train=train, poison=OTHER)
    same(first.forward(), second.forward(), f"{of} left an output element unwritten")
    assert not first.overrun(), f"{of} wrote outside its arrays"


@decides("contract/fills")
def fills_gradients(op: Op, draw: Draw) -> None:
    """Every element of every requested gradient is written, not added to the old content."""
    of, train = example(op, draw), _training(op, draw)
    if not has_gradient(of):
        return
    trials = [Trial(of, is_train=train, poison=poison) for poison in (NAN, OTHER)]
    for trial in trials:
        trial.forward()
    results = [trial.backward() for trial in trials]
    same(results[0], results[1], f"{of} left a gradient element unwritten")
    assert not trials[0].overrun(), f"{of} wrote outside its gradients"


@decides("contract/inputs-stay")
def keeps_inputs(op: Op, draw: Draw) -> None:
    """Inputs that are not declared in ``mutates`` hold the same bits after forward and backward."""
    of = example(op, draw)
    trial = Trial(of, is_train=_training(op, draw))
    trial.forward()
    if has_gradient(of):
        trial.backward()
    changed = sorted(name for name in trial.changed() if name not in op.mutates)
    assert not changed, f"{of} changed its inputs {changed}"


def changes_states(op: Op, draws: Sequence[Draw]) -> None:
    """Every input that ``mutates`` declares changes in some call: no state is forgotten."""
    declared, changed = set(), set()
    for draw in draws:
        of = example(op, draw)
        trial = Trial(of, is_train=True)
        trial.forward()
        if has_gradient(of):
            trial.backward()
        declared |= {name for name in of.names if name in op.mutates}
        changed |= set(trial.changed())
    assert declared <= changed, f"{op.name} never changes {sorted(declared - changed)}"


def repeats(op: Op, draw: Draw) -> None:
    """The same call gives the same bits."""
    of, train = example(op, draw), _training(op, draw)
    same(both_ways(of, is_train=train), both_ways(of, is_train=train), f"{of} differs from itself")


def works_in_place(op: Op, draw: Draw) -> None:
    """Where the page allows an output to overwrite an input, the numbers are the same."""
    of, train = example(op, draw), _training(op, draw)
    expected = Trial(of, is_train=train).forward()
    for source, target in op.inplace:
        trial = Trial(of, is_train=train)
        if source >= len(trial.ins):
            continue
        taken, freed = trial.ins[source].buffer, trial.outs[target].buffer
        if taken.shape == freed.shape and taken.dtype == freed.dtype:
            trial.outs[target] = trial.ins[source]
            same(trial.forward(), expected, f"{of} differs when output {target} overwrites input {source}")
    if not op.inplace_backward or not has_gradient(of):
        return
    trial = Trial(of, is_train=train)
    trial.forward()
    wanted = trial.backward()
    for read, name in op.inplace_backward:
        trial = Trial(of, is_train=train)
        trial.forward()
        if name in of.names and trial.may_overwrite(read, name):
            only = [n == name for n in of.names]
            found = trial.backward(only, overwriting=(read, name))
            index = of.names.index(name)
            same([found[index]], [wanted[index]], f"{of} differs when d_{name} overwrites {read}")


# --- inference -----------------------------------------------------------------------------------


def infers_fixed_point(op: Op, draw: Draw) -> None:
    """Known shapes and types are the answer to themselves, and the answer is complete."""
    of = example(op, draw)
    given = [a.shape for a in of.arrays]
    names = op.output_names(of.p)
    ins, outs = op.infer(of.p, list(given), [None] * len(names))
    assert list(map(tuple, ins)) == given, f"{of}: inference changed known shapes to {ins}"
    assert len(outs) == len(names), f"{of}: {len(outs)} output shapes for {len(names)} outputs"
    assert known(*outs), f"{of}: output shapes {outs} are not complete"
    assert op.infer(of.p, list(given), list(outs)) == (ins, outs), f"{of}: not a fixed point"
    types = [a.dtype for a in of.arrays]
    found, out = op.infer_type(of.p, list(types), [None] * len(names))
    assert list(found) == types, f"{of}: inference changed known types to {found}"
    if types:
        assert all(t is not None for t in out), f"{of}: output types {out} are not complete"
        assert op.infer_type(of.p, list(types), list(out)) == (found, out), f"{of}: types move"


def infers_from_parts(op: Op, draw: Draw) -> None:
    """With any of the knowledge missing, inference neither fails nor contradicts the full answer."""
    of = example(op, draw)
    full_ins, full_outs = op.infer(of.p, [a.shape for a in of.arrays], [None] * len(op.output_names(of.p)))
    told = [name.startswith(ASSUMED.get(op.name, ())) for name in op.input_names(of.p)]
    ins = [shape if keep else _forget(shape, draw) for shape, keep in zip(full_ins, told, strict=True)]
    outs = [_forget(shape, draw) for shape in full_outs]
    why = f"{of} from {ins} -> {outs}"
    try:
        found_ins, found_outs = op.infer(of.p, list(ins), list(outs))
    except MXNetError as error:
        raise AssertionError(f"{why}: refused a possible call: {error}") from error
    pairs = zip([*found_ins, *found_outs], [*full_ins, *full_outs], [*ins, *outs], strict=True)
    for found, full, given in pairs:
        if found is None:
            assert given is None, f"{why}: forgot {given}"
            continue
        assert len(found) == len(full), f"{why}: {found} contradicts {full}"
        assert all(a in (UNKNOWN, b) for a, b in zip(found, full, strict=True)), (
            f"{why}: {found} contradicts {full}"
        )
        if given is not None:
            assert all(b in (a, UNKNOWN) for a, b in zip(found, given, strict=True)), f"{why}: forgot {given}"


def _forget(shape: tuple[int, ...], draw: Draw) -> tuple[int, ...] | None:
    """Replace nothing, some sides or all of a shape by ignorance."""
    kept = draw.choice(("all", "none", "some"))
    if kept == "all":
        return tuple(shape)
    return None if kept == "none" else tuple(UNKNOWN if draw.boolean() else side for side in shape)


def refuses(op: Op, clause: str) -> None:
    """The page's own counter-example for ``clause`` raises MXNetError with that clause."""
    call = op.refusals[clause]
    try:
        _attempt(op, call)
    except MXNetError as error:
        assert getattr(error, "clause", None) == clause, f"{op.name}: {error} is not about {clause}"
        assert len(str(error)) > len(clause) + 3, f"{op.name}: the refusal of {clause} says nothing"
    else:
        raise AssertionError(f"{op.name} accepts what [{clause}] forbids: {call}")


def accepts(op: Op, draw: Draw) -> None:
    """Inference refuses no valid call."""
    of = example(op, draw)
    unknown = [None] * len(op.output_names(of.p))
    try:
        op.infer(of.p, [a.shape for a in of.arrays], list(unknown))
        op.infer_type(of.p, [a.dtype for a in of.arrays], list(unknown))
    except MXNetError as error:
        raise AssertionError(f"{of} is refused: {error}") from error


def _attempt(op: Op, call: dict[str, Any]) -> None:
    """Parse, infer and, where everything is known, run a call on zeros."""
    shapes, dtypes = call.get("shapes", {}), call.get("dtypes", {})
    params = dict(call.get("params", {}))
    if op.variadic and "args" in shapes:
        params.setdefault(op.variadic, len(shapes["args"]))
    p = op.parse(params)
    names, out_names = op.input_names(p), op.output_names(p)
    ins = shapes["args"] if "args" in shapes else [shapes.get(n) for n in names]
    ins, outs = op.infer(p, list(ins), [shapes.get(n) for n in out_names])
    types = dtypes["args"] if "args" in dtypes else [dtypes.get(n) for n in names]
    types = [None if t is None else np.dtype(t) for t in types]
    types, out_dtypes = op.infer_type(p, types, [None] * len(out_names))
    if known(*ins, *outs):
        single = np.dtype(np.float32)
        buffers = [
            [allocate(s, single if t is None else t) for s, t in zip(*pair, strict=True)]
            for pair in ((ins, types), (outs, out_dtypes))
        ]
        for buffer in buffers[0]:
            buffer.flat[:] = 0
        runner.forward(op, p, *buffers)


# --- numbers -------------------------------------------------------------------------------------


def gradient_is_slope(op: Op, draw: Draw) -> None:
    """In float64, the gradient along a random direction is the slope of the outputs that heads weigh."""
    of, train = example(op, draw, "float64", smooth=True), _training(op, draw)
    if not has_gradient(of) or not op.differentiable:
        return
    trial = Trial(of, is_train=train)
    trial.forward()
    heads, gradients = trial.heads(), trial.backward()
    values = np.random.default_rng(draw.integer(0, 9999))
    for index, (name, gradient) in enumerate(zip(of.names, gradients, strict=True)):
        if gradient is None:
            continue
        assert np.isfinite(gradient).all(), f"{of}: gradient of {name} is {gradient}"
        if name in op.no_gradient:
            assert not gradient.any(), f"{of}: {name} has gradient zero by definition"
            continue
        direction = values.uniform(0.5, 1.0, gradient.shape) * values.choice((-1, 1), gradient.shape)
        step = 1e-6
        moved = (_moved(of, index, sign * step * direction) for sign in (1, -1))
        ahead, behind = (_weighed(one, heads, is_train=train) for one in moved)
        slope, claim = (ahead - behind) / (2 * step), float((gradient * direction).sum())
        scale = 1.0 + abs(slope) + np.abs(gradient).sum() * 0.01
        assert abs(slope - claim) < 2e-5 * scale, (
            f"{of}: gradient of {name} says {claim}, the outputs say {slope}; a loss's page says differentiable=False"
        )


def _moved(of: Example, index: int, by: np.ndarray) -> Example:
    arrays = list(of.arrays)
    arrays[index] = arrays[index] + by
    return Example(of.op, of.p, of.params, arrays)


def _weighed(of: Example, heads: list[np.ndarray], *, is_train: bool) -> float:
    outs = Trial(of, is_train=is_train).forward()
    return float(sum((o * h).sum() for o, h in zip(outs, heads, strict=False) if o.dtype.kind == "f"))


def gradients_are_independent(op: Op, draw: Draw) -> None:
    """A gradient has the same bits whichever other gradients are wanted."""
    of, train = example(op, draw), _training(op, draw)
    can = gradient_inputs(of)
    if op.backward is None or sum(can) < 2:
        return
    everything = Trial(of, is_train=train)
    everything.forward()
    complete = everything.backward()
    wanted = [c and draw.boolean() for c in can]
    for subset in (wanted, [c and not w for c, w in zip(can, wanted, strict=True)]):
        trial = Trial(of, is_train=train)
        trial.forward()
        expected = [g if w else None for g, w in zip(complete, subset, strict=True)]
        same(trial.backward(subset), expected, f"{of} wanting {subset}")


@decides("numbers/specification")
def python_agrees(op: Op, draw: Draw) -> None:
    """In float64, loops that run as Python have the bits of compiled ones, in the text for either device."""
    _has_the_bits(example(op, draw, "float64"), is_train=_training(op, draw))


@decides("numbers/specification")
def python_agrees_on_singles(op: Op, draw: Draw) -> None:
    """Loops as Python and as machine code have the same bits in float32, where sums of doubles keep small numbers."""
    _has_the_bits(example(op, draw, cancelling=True), is_train=_training(op, draw))


def _has_the_bits(of: Example, *, is_train: bool) -> None:
    with plain_kernels():
        compiled = both_ways(of, is_train=is_train)
    for device in ("cpu", "gpu"):
        with python_loops(device, given_compiled):
            same(both_ways(of, is_train=is_train), compiled, f"{of} as Python for {device}")


@decides("numbers/twins")
def tuned_agrees(op: Op, draw: Draw) -> None:
    """Tuned twins are exact where the plain loops are, else near the float64 result as they are."""
    of, train = example(op, draw), _training(op, draw)
    tuned = both_ways(of, is_train=train)
    with plain_kernels():
        plain = both_ways(of, is_train=train)
    pairs = zip(tuned, plain, strict=True)
    if all(t is p or np.array_equal(t, p, equal_nan=True) for t, p in pairs):  # type: ignore[arg-type]  # both or none
        return  # no twin, or one that is as near as the plain loop
    doubled = Example(op, of.p, of.params, [
        a.astype(np.float64) if a.dtype == np.float32 else a for a in of.arrays
    ])
    types = [np.dtype(np.float64) if t == np.float32 else t for t in out_types(of)]
    truth = both_ways(doubled, is_train=train, out_types=types)
    for t, p, exact in zip(tuned, plain, truth, strict=True):
        if t is None or p is None or exact is None:
            continue
        if np.array_equal(p, exact, equal_nan=True):
            np.testing.assert_array_equal(t, p, f"{of}: the plain loop is exact, its twin is not")
            continue
        finite = np.isfinite(p)
        np.testing.assert_array_equal(t[~finite], p[~finite], f"{of}: special values differ")
        size = np.abs(exact[finite]).max(initial=0.0)
        bound = 4 * np.abs(p - exact)[finite].max(initial=0.0) + 8 * np.finfo(np.float32).eps * size
        worst = np.abs(t - exact)[finite].max(initial=0.0)
        assert worst <= bound, f"{of}: off by {worst}, the plain loop allows {bound}"


def half_is_rounded_single(op: Op, draw: Draw) -> None:
    """A call on float16 arrays gives the float32 result of the same values, rounded once."""
    try:
        of = example(op, draw, "float16")
    except MXNetError as error:  # some operators take no float16: that is a refusal, not a wrong result
        assert getattr(error, "clause", None), error
        return
    types, train = out_types(of), _training(op, draw)
    wide_types = [np.dtype(np.float32) if t == np.float16 else t for t in types]
    half = both_ways(of, is_train=train)
    single = both_ways(widened(of), is_train=train, out_types=wide_types)
    with np.errstate(over="ignore"):
        pairs = zip(single, half, strict=True)
        rounded = [None if s is None or h is None else s.astype(h.dtype) for s, h in pairs]
    visible = op.visible_count(of.p)
    hidden = range(visible, len(types))  # gradients may go through hidden outputs, rounded or not
    if any(types[i] == np.float16 for i in hidden) or "output" in op.need_names(of.p):
        same(half[:visible], rounded[:visible], of)
        near(half, rounded, 4e-3, of)
    else:
        same(half, rounded, of)


def device_agrees(op: Op, draw: Draw) -> None:
    """CUDA (or Numba's simulator of CUDA) gives the results of the CPU."""
    of, train = example(op, draw, "float64"), _training(op, draw)
    on_cpu = both_ways(of, is_train=train)
    near(both_ways(of, is_train=train, device="gpu(0)"), on_cpu, 1e-10, f"{of} on CUDA")


LAWS: tuple[Law, ...] = (
    fills_outputs, fills_gradients, keeps_inputs, repeats, works_in_place, infers_fixed_point, infers_from_parts,
    gradient_is_slope, gradients_are_independent, python_agrees, python_agrees_on_singles, tuned_agrees,
    half_is_rounded_single,
)
"""Laws that need no device."""
