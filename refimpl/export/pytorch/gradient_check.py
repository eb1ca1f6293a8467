"""One step of training: the gradient of each parameter, held to what the operators' pages compute.

The gradients of the layers' outputs are PyTorch's own, so that errors do not gather from layer to layer. Of large
layers some channels are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ... import ndarray as nd
from ...base import MXNetError
from ...context import cpu
from ...kernels.foundation.loop import plain_kernels
from ...symbol import Symbol
from ...symbol.ir import Entry, Node
from ...symbol.prediction import Prediction
from ..judging import UNITS, Verdict, distance
from ..layer import DOUBLE, SINGLE
from .module import Written
from .parts import State
from .running import Run
from .weights import rnn_places

_STOPS = frozenset(("BlockGrad", "argmax", "argmin", "argsort", "topk", "one_hot"))
_CHANNELS = 12  # of each side of a layer
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
    order = prediction.symbol.order()
    readers = _readers(order, gradients)
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
            step = _Step(values, heads, prediction.params, train, elements, random)
            verdicts = [_parameter(name, readers[name], gradients[name], step) for name in names]
            found.append(max(verdicts, key=lambda verdict: (not verdict.ok, verdict.worst)))
    return found


def _readers(order: Sequence[Node], names: Mapping[str, object]) -> dict[str, list[Node]]:
    """The layers that read each parameter."""
    found: dict[str, list[Node]] = {}
    for node in order:
        read = {entry.node.name for entry in node.inputs if entry.node.op is None}
        for name in read & names.keys():
            found.setdefault(name, []).append(node)
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
        for source in _learning(node):
            if source.op is None and source.name in learnt:
                found.append((node, source.name))
            elif source.op is not None and _passes(source):
                leads.add(id(source))
    return found[::-1]


def _learning(node: Node) -> list[Node]:
    """The inputs of a layer that get gradients."""
    assert node.op is not None
    slots = [*node.signature.inputs, *[""] * len(node.inputs)]
    return [entry.node for slot, entry in zip(slots, node.inputs, strict=False) if slot not in node.op.no_gradient]


def _passes(node: Node) -> bool:
    """Whether gradients go through a layer."""
    if node.op is None or not node.op.differentiable or node.kind in _STOPS:
        return False
    return node.op.backward is not None or node.op.gradient is not None


def _stepped(run: Run, inputs: Mapping[str, np.ndarray], seed: int) -> bool | None:
    """Run forward and backward; whether norms took the statistics of the batch, None without any gradient."""
    single = [np.shape(value)[:1] == (1,) for value in inputs.values()]
    doubled = {name: np.concatenate([value, value]) for name, value in inputs.items()}
    random = np.random.default_rng(seed)
    for name, value in doubled.items():
        if value.dtype.kind == "f":
            first, second = np.split(value, 2)
            doubled[name] = np.concatenate([first, random.permutation(second.reshape(-1)).reshape(second.shape)])
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
        heads = [
            run.torch.from_numpy(random.standard_normal(tuple(value.shape))).to(value.dtype) for value in learnt
        ]
        run.torch.autograd.backward(learnt, heads)
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


class _Step(NamedTuple):
    """A step of training: what PyTorch computed, and how it is judged."""

    values: Mapping[str, np.ndarray]
    heads: Mapping[str, np.ndarray]
    """The gradients of the outputs of layers."""
    params: Mapping[str, np.ndarray]
    train: bool
    elements: int
    random: np.random.Generator


    def around(self, node: Node) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """What a layer read, and the gradients of its outputs; zeros for those that nothing reads."""
        arrays = [
            self.params[source.name] if source.op is None and source.name in self.params
            else self.values[source.entry_name(index)] for source, index in node.inputs
        ]
        outputs = [node.entry_name(index) for index in range(node.visible_count())]
        return arrays, [
            self.heads[name] if name in self.heads else np.zeros_like(self.values[name]) for name in outputs
        ]


def _parameter(name: str, nodes: list[Node], given: np.ndarray, step: _Step) -> Verdict:
    """The verdict on one parameter's gradient, the sum of what the layers that read it give."""
    elements, random = step.elements, step.random
    node = nodes[-1]
    verdict = Verdict(node.name, node.kind, 0, np.inf, ok=False)
    places = _narrowed(nodes[0], name, given.shape, random) if len(nodes) == 1 else None
    exact: Any = 0.0
    bound: Any = 0.0
    for each in nodes:
        if not any(each.entry_name(index) in step.heads for index in range(each.visible_count())):
            continue  # nothing reads it
        try:
            one, more = _exact(each, name, *step.around(each), step.train, places)
        except (MXNetError, KeyError) as error:
            return verdict._replace(note=f"it cannot be computed: {error}")
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
    if node.kind not in ("Convolution", "FullyConnected", "BatchNorm"):
        return None
    if sum(entry.node.name == name for entry in node.inputs) > 1 or (prod(shape) < 4096 and len(shape) > 1):
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
        node, arrays, heads = _channels(node, arrays, heads, places)
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
    node: Node, arrays: list[Any], heads: list[Any], places: list[np.ndarray]
) -> tuple[Node, list[Any], list[Any]]:
    """The layer with drawn channels only."""
    out, data, head = places[0], arrays[0], heads[0]
    if node.kind == "BatchNorm":
        axis = node.params.axis % data.ndim
        return node, [np.take(data, out, axis), *[value[out] for value in arrays[1:]]], [np.take(head, out, axis)]
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
    return Node(node.op, node.name, node.attrs, node.inputs, params=params), new, [head]


def _backward(node: Node, name: str, arrays: list[Any], heads: list[Any], kind: np.dtype, train: bool) -> np.ndarray:
    """A parameter's gradient by the operator's page."""
    if node.kind.startswith("BatchNorm") and not train:
        node = Node(node.op, node.name, node.attrs, node.inputs, params=node.params._replace(use_global_stats=True))
    if node.kind == "RNN" and node.params.p:
        node = Node(node.op, node.name, node.attrs, node.inputs, params=node.params._replace(p=0.0))
    wanted = [index for index, entry in enumerate(node.inputs) if entry.node.name == name]
    executor = _bound(node, arrays, kind, wanted)
    executor.forward(is_train=True)
    executor.backward([nd.array(head, dtype=kind) for head in heads])
    found: Any = 0.0
    for index in wanted:
        found = found + executor.grad_dict[f"in{index}"].asnumpy().astype(DOUBLE)
    return found


def _bound(node: Node, arrays: list[Any], kind: np.dtype, wanted: list[int]) -> Any:
    """An executor of the layer alone, with gradients of some inputs."""
    slots = [f"in{index}" for index in range(len(arrays))]
    lone = node.reading([Entry(Node(None, slot), 0) for slot in slots])
    net = Symbol([Entry(lone, index) for index in range(lone.visible_count())])
    held = {
        slot: nd.array(value, dtype=kind if value.dtype.kind == "f" else value.dtype)
        for slot, value in zip(slots, arrays, strict=True)
    }
    hidden = set(net.list_auxiliary_states())
    learnt = [slots[index] for index in wanted]
    arguments = {slot: value for slot, value in held.items() if slot not in hidden}
    return net.bind(
        cpu(), arguments, {slot: nd.zeros(held[slot].shape, dtype=kind) for slot in learnt},
        {slot: "write" if slot in learnt else "null" for slot in arguments}, {slot: held[slot] for slot in hidden},
    )


__all__ = ["gradient_verdicts"]
