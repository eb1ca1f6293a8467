"""Damaged parameters, optimizer states and optimizers on their way to a server: read, and used for updates."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import refimpl as mx
from refimpl.kvstore.messages import PartId
from refimpl.kvstore.optimizer_step import NOTHING, as_value, updated
from refimpl.ndarray import sparse
from refimpl.ndarray.file_format import to_bytes
from refimpl.optimizer import states

from .damage import NUMBERS, WORDS, Draw, damaged_bytes

FIXTURES = Path(__file__).parents[1] / "fixtures"
SHAPES = {"a_weight": (2, 3), "a_bias": (2,), "c": (3, 1)}
RULES = [
    ("sgd", {"momentum": 0.5}), ("sgd", {}), ("adam", {}), ("nag", {"momentum": 0.5}), ("rmsprop", {"centered": True}),
    ("rmsprop", {}), ("adagrad", {}), ("adadelta", {}), ("ftrl", {}), ("ftml", {}), ("adamax", {}), ("nadam", {}),
    ("signum", {}), ("lamb", {}), ("lars", {"momentum": 0.5}), ("lbsgd", {"momentum": 0.5, "batch_scale": 2}),
    ("dcasgd", {"momentum": 0.5}), ("sgld", {}), ("test", {}),
]
SCHEDULES: list[Any] = [
    lambda: None, lambda: mx.lr_scheduler.FactorScheduler(2, 0.5), lambda: mx.lr_scheduler.PolyScheduler(5),
    lambda: mx.lr_scheduler.MultiFactorScheduler([1, 3], 0.5),
    lambda: mx.lr_scheduler.CosineScheduler(4, warmup_steps=2),
]


# --- parameters -----------------------------------------------------------------------------------


@cache
def _network() -> Any:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(mx.sym.BatchNorm(net, name="bn"), name="softmax")


def _array(draw: Draw, shape: tuple[int, ...]) -> Any:
    """An array that may be of any shape, type and storage."""
    way = draw.random()
    if way < 0.4:
        shape = draw.choice([(), (1,), (2,), (3, 2), (2, 3, 1), (6,), (2, 4), (0,), (2, 0)])
    kind = draw.choice(["float32"] * 5 + ["float16", "float64", "int8", "int64", "bool", "uint8"])
    values = np.random.default_rng(draw.randrange(2**32)).integers(-2, 3, shape)
    made = mx.nd.array(values, dtype=kind)
    if way > 0.9 and len(shape) == 2 and 0 not in shape and kind == "float32":
        return draw.choice([sparse.csr_matrix, sparse.row_sparse_array])(made)
    return made


def _parameters(draw: Draw) -> bytes:
    if draw.random() < 0.15:
        return (FIXTURES / draw.choice(["mxnet-0003.params", "mxnet-kinds.params"])).read_bytes()
    shapes = {"arg:fc_weight": (2, 3), "arg:fc_bias": (2,), "arg:bn_gamma": (2,), "arg:bn_beta": (2,),
              "aux:bn_moving_mean": (2,), "aux:bn_moving_var": (2,)}
    arrays = {name: mx.nd.ones(shape) for name, shape in shapes.items()}
    for _ in range(draw.choice([0, 1, 1, 2])):
        name = draw.choice(sorted(shapes))
        arrays[name] = _array(draw, shapes[name])
        if draw.random() < 0.3:
            arrays[draw.choice(["arg:more", "", "x", "arg:", "aux:fc_bias", "arg:bn_moving_var"])] = arrays.pop(name)
    with mx.util.np_shape(any(array.shape == () for array in arrays.values())):
        try:
            return to_bytes(arrays)
        except mx.MXNetError:  # a sparse array under np_shape
            return to_bytes({"arg:x": mx.nd.ones(1)})


def params(draw: Draw, folder: Path) -> None:
    """A file of parameters, loaded into a network that then runs."""
    content = _parameters(draw)
    if draw.random() < 0.5:
        content = damaged_bytes(draw, content, [content, (FIXTURES / "mxnet-kinds.params").read_bytes()])
    (folder / "x-0001.params").write_bytes(content)
    _network().save(str(folder / "x-symbol.json"))
    symbol, arguments, auxiliary = mx.model.load_checkpoint(str(folder / "x"), 1)
    module = mx.mod.Module(symbol, data_names=("data",), label_names=("softmax_label",))
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    if draw.random() < 0.5:
        module.set_params(arguments, auxiliary, allow_missing=draw.random() < 0.5, allow_extra=draw.random() < 0.5)
    else:
        module.init_params(arg_params=arguments, aux_params=auxiliary, allow_missing=True, allow_extra=True)
    module.init_optimizer()
    batch = mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.ones(2)])
    module.forward_backward(batch)
    module.update()
    module.get_outputs()[0].asnumpy()


# --- optimizers -----------------------------------------------------------------------------------


def _odd(draw: Draw, value: Any) -> Any:
    """Something else in a value's place."""
    options = [
        None, -1, 0, 0.5, 2, 10**30, 10**400, float("nan"), float("-inf"), "", "x", (), [], {}, (1, 2), {0: 1}, True,
        {"x": "y"}, draw.choice(NUMBERS), draw.choice(WORDS[:40]), mx.nd.ones((2, 3)), (mx.nd.ones((2, 3)),) * 2,
        value, [value, value],
    ]
    return draw.choice(options)


def _optimizer(draw: Draw) -> Any:
    name, settings = draw.choice(RULES)
    settings = {**settings, "lr_scheduler": draw.choice(SCHEDULES)(), "multi_precision": draw.random() < 0.3}
    return mx.optimizer.create(name, param_idx2name=dict(enumerate(SHAPES)), **settings)


def _weights(kind: str) -> dict[Any, Any]:
    return {key: mx.nd.ones(shape, dtype=kind) for key, shape in SHAPES.items()}


def _seasoned(draw: Draw, kind: str) -> Any:
    """An updater that has done some steps."""
    updater, weights = mx.optimizer.get_updater(_optimizer(draw)), _weights(kind)
    for _ in range(draw.randint(1, 3)):
        for key, weight in weights.items():
            updater(key, mx.nd.ones(weight.shape, dtype=kind), weight)
    return updater


def _with_odd_attribute(draw: Draw, made: Any) -> None:
    """Replace an attribute of an optimizer or its scheduler, or something inside one."""
    schedule = getattr(made, "lr_scheduler", None)
    holder = schedule if isinstance(schedule, mx.lr_scheduler.LRScheduler) and draw.random() < 0.3 else made
    name = draw.choice(sorted(vars(holder)))
    held = vars(holder)[name]
    if isinstance(held, dict) and held and draw.random() < 0.7:
        key = draw.choice(list(held))
        if isinstance(held[key], dict) and held[key] and draw.random() < 0.7:
            held[key][draw.choice(list(held[key]))] = _odd(draw, held[key])
        else:
            held[key] = _odd(draw, held[key])
    elif draw.random() < 0.1 and name != "param_dict":
        del vars(holder)[name]
    else:
        vars(holder)[name] = _odd(draw, held)


def _other_state(draw: Draw, state: Any) -> Any:
    """A state with one part replaced."""
    way = draw.random()
    if isinstance(state, tuple) and state and way < 0.7:
        at = draw.randrange(len(state))
        return (*state[:at], _other_state(draw, state[at]), *state[at + 1 :])
    if isinstance(state, mx.nd.NDArray) and way < 0.6:
        return _array(draw, state.shape)
    return _odd(draw, state)


def _written(draw: Draw, content: Any) -> bytes:
    """A file of it, whole or damaged."""
    try:
        made = states.dumps(content)
    except mx.MXNetError:
        made = pickle.dumps(str(content))
    others = [(FIXTURES / name).read_bytes() for name in ("mxnet-0003.states", "mxnet-sparse.states")]
    return damaged_bytes(draw, made, [made, *others]) if draw.random() < 0.5 else made


def optimizer_states(draw: Draw, folder: Path) -> None:
    """A file of states, loaded into a store whose keys are then updated; a file that is refused changes nothing."""
    kind = draw.choice(["float32", "float32", "float16", "float64"])
    updater = _seasoned(draw, kind)
    sound = copy.deepcopy(updater.optimizer)
    for _ in range(draw.randint(0, 2)):
        if draw.random() < 0.5:
            _with_odd_attribute(draw, updater.optimizer)
        else:
            key = draw.choice(list(updater.states))
            updater.states[key] = _other_state(draw, updater.states[key])
    kept = (updater.states, updater.optimizer) if draw.random() < 0.5 else updater.states
    (folder / "x.states").write_bytes(_written(draw, kept))
    store = mx.kv.create("local")
    store.set_optimizer(_optimizer(draw) if draw.random() < 0.3 else copy.deepcopy(sound))
    for key, weight in _weights(kind).items():
        store.init(key, weight)
    store.load_optimizer_states(str(folder / "x.states"))
    for _ in range(3):
        for key, shape in SHAPES.items():
            before, after = mx.nd.zeros(shape, dtype=kind), mx.nd.zeros(shape, dtype=kind)
            store.pull(key, before)
            try:
                store.push(key, mx.nd.ones(shape, dtype=kind))
            except Exception:
                store.pull(key, after)
                assert (before.asnumpy() == after.asnumpy()).all(), "an update that failed changed the weight"
                raise


def commands(draw: Draw, folder: Path) -> None:
    """An optimizer on its way to a server, which then updates with it."""
    made = _seasoned(draw, "float32").optimizer
    for _ in range(draw.randint(0, 2)):
        _with_odd_attribute(draw, made)
    optimizer = states.loads_optimizer(_written(draw, made), "x")
    state: Any = {}
    values = {key: as_value(weight) for key, weight in _weights("float32").items()}
    for version in range(3):
        for key, value in values.items():
            held, part = state.get(key, NOTHING), PartId(0, key)
            state[key], values[key] = updated(optimizer, held, part, version, value, np.ones_like(value))


PARAMS, STATES, COMMANDS = params, optimizer_states, commands

__all__ = ["COMMANDS", "PARAMS", "STATES"]
