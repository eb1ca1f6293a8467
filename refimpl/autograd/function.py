"""mx.autograd.Function: a computation whose gradient is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import decides, refusal, require
from ..kernels.foundation import Op
from ..ndarray import NDArray, tape
from ..ndarray.recording import is_recording, is_training, pause


class Function:
    """A computation with a hand-written gradient: override ``forward`` and ``backward``.

    An object is for one call. ``forward`` gets the input arrays and returns the outputs; ``backward`` gets one head
    gradient per output and returns one gradient per input. ``save_for_backward`` keeps arrays for ``backward`` in
    ``saved_tensors``. Operators inside ``forward`` and ``backward`` are not recorded.
    """

    def __init__(self) -> None:
        self._used = False
        self.saved_tensors: tuple[NDArray, ...] = ()

    def save_for_backward(self, *args: NDArray) -> None:
        """Keep arrays in ``saved_tensors``, for ``backward``."""
        self.saved_tensors = args

    def __call__(self, *inputs: NDArray) -> Any:
        """Run ``forward`` and record the call on the tape."""
        if self._used:
            raise refusal(
                "autograd/function-once", "Each Function instance can only be called once."
                " Please create another instance.", AssertionError,
            )
        self._used = True
        with pause(train_mode=is_training()):
            results = self.forward(*inputs)
        outputs = [results] if isinstance(results, NDArray) else list(results)
        if is_recording():
            outputs = [output if output._place is None else output.detach() for output in outputs]
            tape.note(
                self._as_operator(len(inputs), outputs), (), {}, inputs, [o._buffer for o in outputs],
                outputs, outputs[0]._ctx,
            )
        return outputs[0] if isinstance(results, NDArray) else type(results)(outputs)

    @decides("autograd/function")
    def _as_operator(self, input_count: int, outputs: Sequence[NDArray]) -> Op:
        contexts = [output._ctx for output in outputs]
        names = tuple(f"input{i}" for i in range(input_count))

        def backward_page(p: Any, *buffers: Any) -> None:
            del p
            heads = [NDArray(b, c) for b, c in zip(buffers, contexts, strict=False)]
            with pause(train_mode=is_training()):
                given = self.backward(*heads)
            grads = [given] if isinstance(given, NDArray) else list(given)
            if len(grads) != input_count:
                raise refusal(
                    "autograd/function-gradients", f"{type(self).__name__}.backward must return exactly the same"
                    f" number of NDArrays as the number of NDArrays arguments to forward: {input_count}, got"
                    f" {len(grads)}", AssertionError,
                )
            for target, gradient_array in zip(buffers[len(contexts) + input_count :], grads, strict=True):
                if target is not None:
                    require(
                        "autograd/function-gradients", gradient_array.shape == target.shape,
                        f"{type(self).__name__}.backward returned a gradient of shape {gradient_array.shape} for an"
                        f" input of shape {target.shape}",
                    )
                    target.copy_from(gradient_array._data)

        return Op(
            name="_CustomFunction", doc="", forward=_not_run_again, infer=_as_given, infer_type=_not_run_again,
            inputs=names, all_inputs=names,
            outputs=tuple(f"output{i}" for i in range(len(outputs))), backward=backward_page,
            needs=names,  # saved arrays may depend on the inputs, which a second gradient has to know
        )

    def forward(self, *inputs: NDArray) -> Any:
        """Compute the outputs; to be overridden."""
        raise NotImplementedError

    def backward(self, *output_grads: NDArray) -> Any:
        """Compute one gradient per input; to be overridden."""
        raise NotImplementedError


def _as_given(p: Any, ins: list, outs: list) -> tuple[list, list]:
    """The ``infer`` of the operator: the shapes of the call's arrays are complete."""
    del p
    return ins, outs


def _not_run_again(*_: Any, **__: Any) -> None:
    raise refusal("autograd/function-symbol", "a Function is Python code: it cannot become part of a Symbol")
