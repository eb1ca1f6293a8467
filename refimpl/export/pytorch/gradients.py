"""One step of training: the gradient of each parameter, held to what the operators' pages compute.

The gradients of the layers' outputs are PyTorch's own, so that errors do not gather from layer to layer. Of large
layers some channels are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ... import ndarray as nd
from ...base import MXNetError
from ...context import cpu
from ...kernels.foundation.loop import plain_kernels
from ...symbol import Symbol
from ...symbol.ir import Entry, Node
from ..judging import UNITS, Verdict, distance
from ..layer import DOUBLE, SINGLE
from ..prediction import Prediction
from .module import Written
from .parts import State
from .running import Run
from .weights import rnn_places

_STOPS = frozenset(("BlockGrad", "zeros_like", "ones_like", "argmax", "argmin", "argsort", "topk", "one_hot", "Cast"))
_CHANNELS = 12  # of each side of a layer
_MOST = 3_000_000  # numbers that a layer which cannot be narrowed may read
_LAST = 4  # roundings of a result
_FACTOR = 32  # errors of our single precision that stand for those of another order of operations


def gradient_verdicts(
    prediction: Prediction, written: Written, run: Run, inputs: Mapping[str, np.ndarray], elements: int, seed: int
) -> list[Verdict]:
    """A verdict for each layer that has a parameter with a gradient.

    Args:
        prediction: the network.
        written: its module.
        run: of the module in PyTorch.
        inputs: a drawn batch.
        elements: how many of each gradient are judged, at most.
        seed: of what is drawn.
    """
    train = _stepped(run, inputs, seed)
    if train is None:
        return []
    gradients = _gradients(written.state, run, prediction.params)
    heads = {name: tensor.grad.detach().numpy() for name, tensor in run.tensors.items() if tensor.grad is not None}
    values = run.values()
    readers: dict[str, list[Node]] = {}
    order = prediction.symbol.order()
    for node in order:
        for entry in node.inputs if node.op is not None else ():
            if entry.node.name in gradients and entry.node.op is None and node not in readers.get(entry.node.name, []):
                readers.setdefault(entry.node.name, []).append(node)
    found = [
        Verdict(node.name, node.kind, 0, np.inf, ok=False, note=f"PyTorch has no gradient of {name}")
        for node, name in _without_gradient(prediction, written.state, run)
    ]
    with plain_kernels(), np.errstate(all="ignore"):
        for number, node in enumerate(order):
            names = [name for name, nodes in readers.items() if nodes[-1] is node]
            if not names:
                continue
            random = np.random.default_rng([seed, number])
            verdicts = [
                _parameter(name, readers[name], gradients[name], values, heads, prediction.params, train, elements, random)
                for name in names
            ]
            found.append(max(verdicts, key=lambda verdict: (not verdict.ok, verdict.worst)))
    return found


def _without_gradient(prediction: Prediction, state: Mapping[str, State], run: Run) -> list[tuple[Node, str]]:
    """Parameters that have no gradient, although differentiable layers lead from them to an output; with a reader."""
    tensors = dict(run.net.named_parameters(remove_duplicate=False))
    learnt = {
        held.parameter for name, held in state.items()
        if name in tensors and tensors[name].requires_grad and tensors[name].grad is None
    }
    order = prediction.symbol.order()
    leads = {id(entry.node) for entry in prediction.symbol.entries if _passes(entry.node)}
    found = []
    for node in order[::-1]:
        if id(node) not in leads:
            continue
        for slot, (source, _) in zip(node.signature.inputs, node.inputs, strict=False):
            if source.op is None and source.name in learnt and slot not in node.op.no_gradient:
                found.append((node, source.name))
            elif source.op is not None and _passes(source) and slot not in node.op.no_gradient:
                leads.add(id(source))
    return found[::-1]


def _passes(node: Node) -> bool:
    """Whether gradients go through a layer."""
    if node.op is None or not node.op.differentiable or node.kind in _STOPS:
        return False
    return node.op.backward is not None or node.op.gradient is not None


def _stepped(run: Run, inputs: Mapping[str, np.ndarray], seed: int) -> bool | None:
    """Run forward and backward; whether norms took the statistics of the batch, None without any gradient."""
    single = [np.shape(value)[:1] == (1,) for value in inputs.values()]
    doubled = {name: np.concatenate([value, value[::-1] * value.dtype.type(1)]) for name, value in inputs.items()}
    random = np.random.default_rng(seed)
    for name, value in doubled.items():
        if value.dtype.kind == "f":
            half = len(value) // 2
            doubled[name] = np.concatenate([value[:half], random.permutation(value[half:].reshape(-1)).reshape(value[half:].shape)])
    attempts: list[tuple[Mapping[str, np.ndarray], bool]] = [(inputs, True), (inputs, False)]
    if all(single):
        attempts.insert(0, (doubled, True))
    for given, train in attempts:
        try:
            outputs = run.forward(given, train=train, gradients=True)
        except (RuntimeError, ValueError, IndexError):
            continue
        learnt = [value for value in outputs if value.requires_grad]
        if not learnt:
            return None
        run.net.zero_grad()
        heads = [run.torch.from_numpy(random.standard_normal(tuple(value.shape)).astype(np.float32)) for value in learnt]
        run.torch.autograd.backward(learnt, [head.to(value.dtype) for head, value in zip(heads, learnt, strict=True)])
        return train
    return None


def _gradients(state: Mapping[str, State], run: Run, params: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """PyTorch's gradients of the network's parameters, by their names."""
    found: dict[str, np.ndarray] = {}
    tensors = dict(run.net.named_parameters(remove_duplicate=False))
    for name, held in state.items():
        tensor = tensors.get(name)
        if tensor is None or tensor.grad is None:
            continue
        value, words = tensor.grad.detach().numpy(), held.change.split()
        if not words:
            found.setdefault(held.parameter, value.reshape(params[held.parameter].shape))
        elif words[0] == "each":
            found[held.parameter] = value.reshape(-1, int(words[1])).sum(1).reshape(params[held.parameter].shape)
        elif words[0] == "rnn":
            place, inputs, hidden, layers, projection, mode, both = words[1:]
            places = rnn_places(int(inputs), int(hidden), int(layers), int(projection), mode, both == "1")
            whole = found.setdefault(held.parameter, np.zeros(params[held.parameter].shape, value.dtype))
            begin, shape = places[place]
            whole[begin:begin + prod(shape)] = value.reshape(-1)
    return found


def _parameter(
    name: str, nodes: list[Node], given: np.ndarray, values: Mapping[str, np.ndarray], heads: Mapping[str, np.ndarray],
    params: Mapping[str, np.ndarray], train: bool, elements: int, random: np.random.Generator,
) -> Verdict:
    """The verdict on one parameter's gradient, the sum of what the layers that read it give."""
    node = nodes[-1]
    verdict = Verdict(node.name, node.kind, 0, np.inf, ok=False)
    places = _narrowed(nodes[0], name, given.shape, random) if len(nodes) == 1 else None
    exact, bound = np.zeros(()), np.zeros(())
    for each in nodes:
        outputs = [each.entry_name(index) for index in range(each.visible_count())]
        if not any(output in heads for output in outputs):
            continue  # nothing reads it
        arrays = [
            params[e.node.name] if e.node.op is None and e.node.name in params else values.get(e.node.entry_name(e.index))
            for e in each.inputs
        ]
        if any(array is None for array in arrays):
            return verdict._replace(note="an input has no value")
        kinds = [heads.get(output, np.zeros_like(values[output]) if output in values else None) for output in outputs]
        if any(head is None for head in kinds):
            return verdict._replace(note="an output has no value")
        try:
            one, more = _exact(each, name, arrays, kinds, train, places)
        except MXNetError as error:
            return verdict._replace(note=str(error))
        exact, bound = exact + one, bound + more
    if places is not None:
        given = given[np.ix_(*places)]
    off = distance(given.astype(DOUBLE).reshape(-1), np.broadcast_to(exact, given.shape).reshape(-1))
    bound = np.broadcast_to(bound, given.shape).reshape(-1)
    units = np.where(off == 0, 0.0, off / np.maximum(bound, 1e-300))
    at = random.choice(units.size, min(elements, units.size), replace=False) if units.size else np.zeros(0, int)
    worst = float(units[at].max(initial=0.0))
    note = f"the gradient of {name} is off by {worst:.3g} bounds" if worst > 1 else ""
    return verdict._replace(elements=len(at), worst=worst, ok=worst <= 1, note=note)


def _narrowed(node: Node, name: str, shape: tuple[int, ...], random: np.random.Generator) -> list[np.ndarray] | None:
    """Drawn channels of a layer's parameter, for each of its axes."""
    if node.kind == "Convolution" and node.params.num_group > 1:
        return None
    if node.kind not in ("Convolution", "FullyConnected", "BatchNorm", "Deconvolution"):
        return None
    if sum(entry.node.name == name for entry in node.inputs) > 1 or prod(shape) < 4096 and len(shape) > 1:
        return None
    if node.kind == "Deconvolution":
        return None
    sides = [np.sort(random.choice(side, min(side, _CHANNELS), replace=False)) for side in shape[:2]]
    return [*sides, *[np.arange(side) for side in shape[2:]]]


def _exact(
    node: Node, name: str, arrays: list[Any], heads: list[Any], train: bool, places: list[np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of a parameter, and how far each element may be off.

    Args:
        node: the layer.
        name: of the parameter.
        arrays: what the layer reads.
        heads: the gradients of its outputs.
        train: whether it is a step of training.
        places: the channels that count, for each axis of the parameter.
    """
    if places is not None:
        node, arrays, heads = _channels(node, name, arrays, heads, places)
    exact = _backward(node, name, arrays, heads, DOUBLE, train)
    unit = UNITS["float16"] if any(head.dtype == np.float16 for head in heads) else UNITS["float32"]
    terms = max(1, max(head.size for head in heads) * max(1, prod(exact.shape[1:])) // max(1, exact.size))
    last = _LAST * unit * np.abs(exact) + 1e-30
    if node.kind in ("Convolution", "FullyConnected", "Deconvolution", "Embedding"):
        sizes = [np.abs(value) for value in arrays]
        magnitude = _backward(node, name, sizes, [np.abs(head) for head in heads], DOUBLE, train)
        products = terms if node.kind != "Embedding" else heads[0].size
        return exact, products * unit * magnitude + last
    if node.kind == "BatchNorm" and node.params.axis in (1, -1):
        return exact, (terms + 16) * unit * _norm_magnitude(node, name, arrays, heads[0], train) + last
    single = _backward(node, name, arrays, heads, SINGLE, train)
    off = float(np.max(np.abs(single - exact), initial=0.0))
    largest = max(float(np.max(np.abs(head), initial=0.0)) for head in heads)
    spread = terms**0.5 * unit * max(float(np.max(np.abs(exact), initial=0.0)), largest)
    return exact, _FACTOR * (off * unit / UNITS["float32"] + spread) + last


def _norm_magnitude(node: Node, name: str, arrays: list[Any], head: np.ndarray, train: bool) -> np.ndarray:
    """The sum of the magnitudes that a norm's gradient adds up, for each channel."""
    axis = node.params.axis % head.ndim
    rest = tuple(each for each in range(head.ndim) if each != axis)
    sizes = np.abs(head.astype(DOUBLE))
    slots = list(node.signature.inputs)
    if node.inputs[slots.index("gamma")].node.name != name:
        return sizes.sum(rest)
    data = arrays[0].astype(DOUBLE)
    own = train and not node.params.use_global_stats
    mean = data.mean(rest) if own else arrays[3].astype(DOUBLE)
    var = data.var(rest) if own else arrays[4].astype(DOUBLE)
    shape = [-1 if each == axis else 1 for each in range(head.ndim)]
    spread = np.sqrt(var + node.params.eps)
    return (sizes * (np.abs(data) + np.abs(mean).reshape(shape))).sum(rest) / spread


def _channels(
    node: Node, name: str, arrays: list[Any], heads: list[Any], places: list[np.ndarray]
) -> tuple[Node, list[Any], list[Any]]:
    """The layer with drawn channels only."""
    out, data, head = places[0], arrays[0], heads[0]
    if node.kind == "BatchNorm":
        axis = node.params.axis % data.ndim
        return node, [np.take(data, out, axis), *[value[out] for value in arrays[1:]]], [np.take(head, out, axis)]
    slots = list(node.signature.inputs)
    weight = arrays[1]
    inside = places[1] if len(places) > 1 else np.arange(min(weight.shape[1], 1))
    new = [data, weight[out][:, inside], *[value[out] for value in arrays[2:]]]
    if node.kind == "FullyConnected":
        whole = data.reshape(len(data), -1) if node.params.flatten else data
        new[0] = whole[..., inside]
        params = node.params._replace(num_hidden=len(out))
        head = head[..., out]
    else:
        new[0] = data[:, inside]
        params = node.params._replace(num_filter=len(out))
        head = head[:, out]
    del slots, name
    return Node(node.op, node.name, node.attrs, node.inputs, params=params), new, [head]


def _backward(node: Node, name: str, arrays: list[Any], heads: list[Any], kind: np.dtype, train: bool) -> np.ndarray:
    """A parameter's gradient by the operator's page."""
    if node.kind.startswith("BatchNorm") and not train:
        node = Node(node.op, node.name, node.attrs, node.inputs, params=node.params._replace(use_global_stats=True))
    if node.kind == "Dropout" or (node.kind == "RNN" and node.params.p):
        node = Node(node.op, node.name, node.attrs, node.inputs, params=node.params._replace(p=0.0))
    slots = [f"in{index}" for index in range(len(arrays))]
    lone = node.reading([Entry(Node(None, slot), 0) for slot in slots])
    net = Symbol([Entry(lone, index) for index in range(lone.visible_count())])
    held = {
        slot: nd.array(value.astype(kind) if value.dtype.kind == "f" else value, dtype=kind if value.dtype.kind == "f" else value.dtype)
        for slot, value in zip(slots, arrays, strict=True)
    }
    hidden = set(net.list_auxiliary_states())
    wanted = [slot for slot, entry in zip(slots, node.inputs, strict=True) if entry.node.name == name]
    arguments = {slot: value for slot, value in held.items() if slot not in hidden}
    executor = net.bind(
        cpu(), arguments, {slot: nd.zeros(held[slot].shape, dtype=kind) for slot in wanted},
        {slot: "write" if slot in wanted else "null" for slot in arguments}, {slot: held[slot] for slot in hidden},
    )
    executor.forward(is_train=True)
    executor.backward([nd.array(head.astype(kind), dtype=kind) for head in heads])
    return sum(executor.grad_dict[slot].asnumpy().astype(DOUBLE) for slot in wanted)


__all__ = ["gradient_verdicts"]
