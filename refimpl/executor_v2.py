"""The Executor of MXNet 2.0: a CachedOp, private copies of the arguments, and autograd.

It answers to the same names as the 1.x executor (``refimpl/executor/executor.py``) and keeps another contract;
spec/reference/running/executor-mxnet-2.md puts them side by side. Reached through ``Symbol._bind`` and
``Symbol._simple_bind``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import autograd
from .base import decides, dtype_of, refusal
from .context import Context
from .executor.cached_op import CachedOp
from .executor.fixed import FixedDict, FixedList
from .ndarray import NDArray, array, zeros
from .ndarray.tape import require_known
from .ndarray.undo import undo
from .symbol import Symbol

Given = dict[str, NDArray] | list[NDArray] | tuple[NDArray, ...] | None


class Executor:
    """A CachedOp with private copies of its inputs.

    Arguments and states are copied to ``device``; ``args_grad`` arrays receive the gradients after each
    ``backward``. A name that the symbol does not have is ignored, one that is missing stays empty until
    ``forward`` brings a value. ``outputs`` is None until then, and new arrays every time.

    Args:
        sym: the graph.
        device: where it runs.
        args: the arguments: arrays in the order of ``list_arguments()``, or by name.
        args_grad: the arrays that receive gradients, likewise.
        grad_req: "write", "add" or "null", for all or by name.
        aux_states: the auxiliary states, as ``args``.
        static_alloc: MXNet's flag about speed, which changes nothing here.

    Raises:
        AssertionError: arguments are neither a dict nor a list, or ``grad_req`` neither a dict nor a string.
        KeyError: a requirement is none of write, add and null, or a dict lacks it for a gradient array.
        IndexError: a list is longer than the symbol's arguments.
    """

    def __init__(
        self, sym: Symbol, device: Context, args: Given, args_grad: Given, grad_req: Any,
        aux_states: Given, static_alloc: bool = False,
    ) -> None:
        self._sym, self._device = sym, device
        self._input_names = sym.list_inputs()
        self._arg_names = sym.list_arguments()
        self._aux_names = sym.list_auxiliary_states()
        self._output_names = sym.list_outputs()
        self._slots: dict[str, NDArray | None] = dict.fromkeys(self._input_names)
        self._grad_req = grad_req
        self._requires_grad = self._wants_gradients(grad_req)
        self._fill(self._arg_names, args, "args")
        self._fill(self._aux_names, aux_states or {}, "aux_states")
        self._args_grad = args_grad or None
        self._user_grads: dict[str, NDArray] = {}
        if self._args_grad is not None:
            self._attach(self._args_grad)
        self._cached_op = CachedOp(sym, [("static_alloc", static_alloc)])
        self.outputs: list[NDArray] | None = None

    def _wants_gradients(self, grad_req: Any) -> bool:
        if isinstance(grad_req, dict):
            return any(req != "null" and name in self._slots for name, req in grad_req.items())
        if not isinstance(grad_req, str):
            raise refusal(
                "Executor2/grad-req-type", f"grad_req must be a string or a dict, got {type(grad_req).__name__}",
                AssertionError,
            )
        return grad_req != "null"

    def _named(self, names: list[str], given: Given, what: str) -> dict[str, NDArray]:
        """A list by position, or a dict, as a dict; what the symbol does not have is left out."""
        if isinstance(given, dict):
            return {name: value for name, value in given.items() if name in names}
        if not isinstance(given, (list, tuple)):
            raise refusal(
                "Executor2/given-type", f"{what} must be a dict or a list, got {type(given).__name__}", AssertionError
            )
        if len(given) > len(names):
            raise refusal(
                "Executor2/given-length", f"{what} has {len(given)} arrays for {len(names)} names {names}", IndexError
            )
        return dict(zip(names, given, strict=False))

    def _fill(self, names: list[str], given: Given, what: str) -> None:
        for name, value in self._named(names, given, what).items():
            if not isinstance(value, NDArray):
                raise refusal(
                    "Executor2/value-type", f"{what}: {name} must be an NDArray, got {type(value).__name__}",
                    AttributeError,
                )
            self._slots[name] = value.copyto(self._device)  # type: ignore[assignment]  # a Context gives an NDArray

    def _requirement(self, name: str) -> str:
        req = self._grad_req[name] if isinstance(self._grad_req, dict) else self._grad_req
        require_known("Executor2/grad-req", [req])
        return req

    @decides("Executor2/gradients")
    def _attach(self, args_grad: Given) -> None:
        for name, gradient in self._named(self._arg_names, args_grad, "args_grad").items():
            if gradient is None:
                continue
            if isinstance(self._grad_req, dict) and name not in self._grad_req:
                raise refusal("Executor2/grad-req", f"grad_req has no entry for {name}", KeyError)
            req = self._requirement(name)
            slot = self._slots[name]
            if req == "null":
                continue
            self._user_grads[name] = gradient
            if slot is not None:
                slot.attach_grad(req, stype=gradient.stype)
                gradient.copyto(slot.grad)  # type: ignore[arg-type]  # attached in the line above

    # --- run ---------------------------------------------------------------------------------------

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[NDArray]:
        """Run the graph and return new output arrays; keywords are assigned to inputs first.

        The run is on the tape even when ``is_train`` is False, so that ``backward`` works after it. A keyword
        that is no input is ignored; a value is broadcast to the shape that the input has.

        Raises:
            ValueError: a value does not broadcast.
            AttributeError: a value has no dtype (a list), or an input never got a value.
        """
        given = [self._slots[name] for name in kwargs if name in self._slots]
        with undo(given, list(self.aux_arrays), dicts=[self._slots, vars(self)]):
            return self._forward(is_train, kwargs)

    def _forward(self, is_train: bool, values: dict[str, Any]) -> list[NDArray]:
        for name, value in values.items():
            if name in self._slots:
                self._assign(name, value)
        empty = [name for name, slot in self._slots.items() if slot is None]
        if empty:
            raise refusal(
                "Executor2/empty-slot", f"input {empty[0]} has no value: give it at bind or to forward", AttributeError
            )
        with autograd.record(train_mode=is_train):
            results = self._cached_op(*self._slots.values())  # type: ignore[arg-type]  # none is None
        self.outputs = results if isinstance(results, list) else [results]
        return self.outputs

    @decides("Executor2/forward-keywords")
    def _assign(self, name: str, value: Any) -> None:
        if not hasattr(value, "dtype"):
            raise refusal(
                "Executor2/value-dtype", f"{name}: a {type(value).__name__} has no dtype, give an array", AttributeError
            )
        slot = self._slots[name]
        if slot is None:
            made = array(value, self._device, value.dtype)
            self._slots[name] = made
            if name in self._user_grads:
                made.attach_grad(self._requirement(name))
        else:
            slot[:] = array(value, self._device, value.dtype)

    @decides("Executor2/once", "Executor2/nothing-wanted")
    def backward(self, out_grads: Any = None) -> None:
        """Gradients of the outputs, with ones as head gradients unless ``out_grads`` says otherwise.

        Without gradients to compute nothing happens. Before any ``forward``, one is run.

        Raises:
            MXNetError: called twice after one ``forward``.
            AssertionError: there are not as many head gradients as outputs.
        """
        if not self._requires_grad:
            return
        if self.outputs is None:
            self.forward()
        assert self.outputs is not None
        heads = None
        if out_grads is not None:
            heads = [head.copyto(self._device) for head in self._listed(out_grads)]
        own = [self._gradient(name) for name in self._input_names]
        with undo(own, self._user_grads, list(self.aux_arrays)):
            autograd.backward(self.outputs, heads)
            for name, gradient in self._user_grads.items():
                slot = self._slots[name]
                if slot is not None and slot.grad is not None:
                    gradient[:] = slot.grad

    @decides("Executor2/heads")
    def _listed(self, out_grads: Any) -> list[NDArray]:
        """Head gradients given as one array, a list by output, or a dict by output name."""
        if isinstance(out_grads, NDArray):
            return [out_grads]
        if isinstance(out_grads, dict):
            return [out_grads[name] for name in self._output_names]
        return list(out_grads)

    # --- look --------------------------------------------------------------------------------------

    @property
    def arg_arrays(self) -> list[NDArray | None]:
        """Private copies of the arguments, in order."""
        return FixedList(self._slots[name] for name in self._arg_names)

    @property
    def aux_arrays(self) -> list[NDArray | None]:
        """Private copies of the auxiliary states, in order."""
        return FixedList(self._slots[name] for name in self._aux_names)

    @property
    def grad_arrays(self) -> Any:
        """The list that was given, or one gradient per argument with None where there is none."""
        if isinstance(self._args_grad, (list, tuple)):
            return FixedList(self._args_grad)
        return FixedList(self._gradient(name) for name in self._arg_names)

    def _gradient(self, name: str) -> NDArray | None:
        slot = self._slots[name]
        return None if slot is None else slot.grad

    @property
    def arg_dict(self) -> dict[str, NDArray | None]:
        """Arguments by name."""
        return FixedDict((name, self._slots[name]) for name in self._arg_names)

    @property
    def aux_dict(self) -> dict[str, NDArray | None]:
        """Auxiliary states by name."""
        return FixedDict((name, self._slots[name]) for name in self._aux_names)

    @property
    def grad_dict(self) -> dict[str, NDArray]:
        """Gradients of the inputs that have one, by name."""
        found = {name: self._gradient(name) for name in self._input_names}
        return FixedDict((name, gradient) for name, gradient in found.items() if gradient is not None)

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """Outputs of the last forward by name; of two with one name, the last."""
        return dict(zip(self._output_names, self.outputs or [], strict=False))

    def get_optimized_symbol(self) -> Symbol:
        """The graph after the optimizing passes."""
        return self._cached_op.get_optimized_symbol()

    def copy_params_from(
        self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copy values into arguments and states, cast to their dtype; nothing is copied when anything is refused.

        Raises:
            ValueError: a name is unknown and ``allow_extra_params`` is False.
            MXNetError: a shape differs.
        """
        jobs = []
        for given, names, what in (
            (arg_params, self._arg_names, "the arguments"),
            (aux_params or {}, self._aux_names, "the auxiliary states"),
        ):
            for name, value in given.items():
                if name not in names:
                    if allow_extra_params:
                        continue
                    raise refusal("Executor/copy-name", f'Find name "{name}" that is not in {what}', ValueError)
                slot = self._slots[name]
                if slot is not None and slot.shape != value.shape:
                    raise refusal(
                        "Executor/copy-shape", f"{name} has shape {value.shape}, the executor's has {slot.shape}"
                    )
                jobs.append((name, value, slot))
        with undo([slot for _, _, slot in jobs], dicts=[self._slots]):
            for name, value, slot in jobs:
                if slot is None:
                    self._slots[name] = value.copyto(self._device)  # type: ignore[assignment]  # as above
                else:
                    value.copyto(slot)


@decides("Executor2/copies")
def bind(
    symbol: Symbol, device: Context, args: Given, args_grad: Given = None, grad_req: Any = "write",
    aux_states: Given = None, static_alloc: bool = False,
) -> Executor:
    """``Symbol._bind`` of ``symbol``.

    ``device``, ``args``, ``args_grad``, ``grad_req``, ``aux_states`` and ``static_alloc`` are explained there.
    """
    return Executor(symbol, device, args, args_grad, grad_req, aux_states, static_alloc)


@decides("Executor2/simple-bind")
def simple_bind(
    symbol: Symbol, device: Context, grad_req: Any = "write", type_dict: dict[str, Any] | None = None,
    stype_dict: dict[str, str] | None = None, **shapes: Any,
) -> Executor:
    """``Symbol._simple_bind`` of ``symbol``: zeros for everything that the given shapes determine.

    ``device``, ``grad_req``, ``type_dict`` and ``stype_dict`` are explained there.

    Raises:
        MXNetError: shapes or types contradict each other.
        ValueError: the shapes do not determine those of all arguments.
    """
    del stype_dict  # zeros of any storage are copied into dense slots
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    arg_shapes, _, aux_shapes = symbol.infer_shape(**shapes)
    if arg_shapes is None:
        raise refusal("Executor2/known-shapes", "Input node is not complete", ValueError)
    types = {name: dtype_of(kind) for name, kind in (type_dict or {}).items()}
    arg_types, _, aux_types = symbol.infer_type(**types)
    if arg_types is None:
        arg_types = [types.get(name, np.dtype(np.float32)) for name in names]
        aux_types = [np.dtype(np.float32)] * len(states)
    args = [zeros(s, device, t) for s, t in zip(arg_shapes, arg_types, strict=True)]
    aux = [zeros(s, device, t) for s, t in zip(aux_shapes, aux_types, strict=True)]
    wanted = {
        name: (grad_req.get(name, "null") if isinstance(grad_req, dict) else grad_req) for name in names
    }
    gradients = {
        name: zeros(a.shape, device, a.dtype)
        for name, a in zip(names, args, strict=True) if wanted[name] != "null"
    }
    return Executor(symbol, device, args, gradients or None, wanted, aux)
