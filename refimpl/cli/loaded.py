"""A checkpoint that is to run: which of its variables are inputs, which shapes they have, and a Module of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .. import ndarray as nd
from .. import symbol
from ..base import MXNetError, decides
from ..context import cpu
from ..io import DataDesc
from ..model import load_params
from ..module import Module
from ..ndarray import NDArray
from ..symbol import Symbol
from ..symbol.inference import is_shown_whole
from ..symbol.inferred_lists import known_shapes, known_types
from ..symbol.ir import Entry, Node
from .errors import CommandError, one_line, refuse
from .options import checkpoint_files, symbol_file

Shape = tuple[int, ...]
Shapes = dict[str, Shape]

# Inputs that take zeros where nothing is given: labels, and the first states of recurrent networks.
ZEROS = re.compile(r"label$|state|_init_[ch]$")


class Network:
    """A checkpoint, or only its symbol.

    Args:
        prefix: the prefix of the checkpoint.
        epoch: its epoch; None loads no parameters.
        bucket: the key of one of its networks, for a checkpoint of a BucketingModule.
        output: the name of a layer's output, which becomes the network's only output.
        with_labels: whether losses read values that are computed from labels; predictions do not need them.

    Raises:
        CommandError: a file is missing, or there is no such output.
        MXNetError: a file is damaged.
    """

    def __init__(
        self, prefix: str, epoch: int | None, output: str | None = None, *, bucket: int | None = None,
        with_labels: bool = False,
    ) -> None:
        self.arguments: dict[str, NDArray] = {}
        self.auxiliary: dict[str, NDArray] = {}
        self.prefix = prefix
        if epoch is None:
            self.file = symbol_file(prefix, bucket)
            if not self.file.is_file():
                raise refuse("Cli/checkpoint-exists", f"{self.file} does not exist; name the prefix of a checkpoint")
        else:
            self.file, _ = checkpoint_files(prefix, epoch, bucket)
            held = load_params(prefix, epoch)
            self.arguments, self.auxiliary = (  # a file may hold empty places
                {name: value for name, value in values.items() if value is not None} for values in held
            )
        net = symbol.load(str(self.file))
        net = net if output is None else _internal(net, output)
        self.net = net if with_labels else _without_labels(net)
        names = self.net.list_arguments()
        self.inputs = [name for name in names if name not in self.arguments]
        self.labels = [name for name in self.inputs if name.endswith("label")]
        if epoch is not None:
            self._require_parameters()

    def _require_parameters(self) -> None:
        """A parameter that the file lacks would count as an input."""
        missing = [name for name in self.net.list_auxiliary_states() if name not in self.auxiliary]
        slots = re.compile(r"_(weight|bias|gamma|beta|parameters)$")
        missing += [name for name in self.inputs if slots.search(name)]
        if missing:
            raise refuse(
                "Cli/parameters-there",
                f"the parameters of {self.prefix} lack {', '.join(missing[:5])}{' ...' * (len(missing) > 5)}, which"
                " its symbol needs",
            )

    @cached_property
    @decides("Cli/input-types")
    def types(self) -> dict[str, np.dtype]:
        """The element types of inputs, parameters and states, whichever types the file's arrays have."""
        return known_types(self.net.entries)

    def held(self) -> dict[str, np.ndarray]:
        """Parameters and states in the types that the network computes in; a Module casts them too."""
        return {
            name: value.asnumpy().astype(self.types[name], copy=False)
            for values in (self.arguments, self.auxiliary) for name, value in values.items() if name in self.types
        }

    def data(self) -> str:
        """The input for pictures: ``data``, or the only input that is neither a label nor a state."""
        found = [name for name in self.inputs if not ZEROS.search(name)]
        if "data" in found:
            return "data"
        if len(found) != 1:
            raise refuse(
                "Cli/input-name",
                f"none of the inputs of {self.prefix}, {', '.join(self.inputs) or 'none'}, is known to take the"
                " data; give all of them with --npz or --shape",
            )
        return found[0]

    def require_inputs(self, names: Any, flag: str) -> None:
        """Refuse names that are no inputs of the network."""
        others = [name for name in names if name not in self.inputs]
        if others or not names:
            raise refuse(
                "Cli/input-name",
                f"{flag} names {', '.join(others) or 'nothing'}; the inputs of {self.prefix} are"
                f" {', '.join(self.inputs) or 'none'}",
            )

    def data_of(self, arrays: Mapping[str, np.ndarray], flag: str) -> dict[str, np.ndarray]:
        """The arrays that are inputs and no labels; a file may hold labels and outputs too."""
        data = {name: value for name, value in arrays.items() if name in self.inputs and name not in self.labels}
        self.require_inputs(data or [name for name in arrays if name not in self.inputs], flag)
        for name, value in data.items():
            if self.types[name].kind in "iub" and value.dtype.kind == "f" and (value % 1 != 0).any():
                raise refuse(
                    "Cli/input-types",
                    f"{flag}: {name} has fractions, and the network takes {self.types[name]}; give whole numbers",
                )
        return data

    def stated(self, name: str) -> Shape | None:
        """The shape that the symbol's file states for an input, where it is whole but for the batch."""
        text = self.net.attr_dict().get(name, {}).get("__shape__", "")
        shape = tuple(int(side) for side in re.findall(r"-?\d{1,9}", text))
        return shape if len(shape) > 1 and min(shape[1:]) > 0 else None

    def shapes(self, given: Mapping[str, Shape]) -> Shapes:
        """The shapes of all inputs; shapes of labels and states follow from the others.

        Raises:
            CommandError: they contradict the parameters, or one does not follow and takes no zeros.
        """
        names = set(self.net.list_arguments())
        parameters = {name: value.shape for name, value in self.arguments.items() if name in names}
        try:
            found, _, _ = known_shapes(self.net.entries, {**parameters, **given})
        except MXNetError as error:
            raise self._misfit(given, error) from error
        inferred = {n: tuple(s or ()) for n, s in zip(self.net.list_arguments(), found, strict=True)}
        unknown = [name for name in self.inputs if not is_shown_whole(inferred[name])]
        if self.arguments:  # without an epoch the inputs are the parameters, too
            unknown += [n for n in self.inputs if n not in {*given, *unknown} and not ZEROS.search(n)]
        if unknown:
            raise refuse(
                "Cli/input-shape",
                f"the network of {self.file} also needs {', '.join(unknown[:5])}; give shapes, with"
                f" the batch, such as --shape {unknown[0]}=1,3,224,224, or values with --npz",
            )
        return {name: inferred[name] for name in self.inputs}

    def fits(self, given: Mapping[str, Shape]) -> bool:
        """Whether inputs of these shapes suit the parameters."""
        try:
            self.shapes(given)
        except CommandError:
            return False
        return True

    def _misfit(self, given: Mapping[str, Shape], error: Exception) -> Exception:
        said = " ".join(f"{name}={','.join(map(str, shape))}" for name, shape in given.items())
        return refuse(
            "Cli/fits-network", f"the network of {self.file} does not take {said}: {one_line(error)}"
        )

    @decides("Cli/zeros")
    def module(self, given: Mapping[str, Shape], *, training: bool = False) -> Module:
        """A bound Module. Inputs that are not given are zeros, as parameters are without an epoch."""
        shapes = self.shapes(given)
        labels = [name for name in self.labels if name not in given] if training else []
        layout = "NCHW" if training else ""  # on one device no batch is cut, so that any axis may be the batch's

        def described(sizes: Mapping[str, Shape]) -> list[DataDesc]:
            return [DataDesc(name, shape, self.types[name], layout) for name, shape in sizes.items()]

        module = Module(self.net, list(given), labels or None, context=cpu())
        try:
            module.bind(described(given), described({name: shapes[name] for name in labels}) or None, training)
            values = {name: nd.zeros(shapes[name], dtype=self.types[name]) for name in self.inputs if name not in given}
            module.set_params({**values, **self.arguments}, self.auxiliary, allow_missing=True, allow_extra=True)
        except (RuntimeError, ValueError, AssertionError) as error:
            if getattr(error, "clause", None) is None:
                raise
            raise self._misfit(given, error) from error
        return module


def _internal(net: Symbol, name: str) -> Symbol:
    internals = net.get_internals()
    names = internals.list_outputs()
    for found in (name, f"{name}_output"):
        if names.count(found) == 1 and found not in net.list_inputs():
            return internals[found]
    near = difflib.get_close_matches(name, [n for n in names if n.endswith("_output")], 3)
    raise refuse(
        "Cli/output-name",
        f"--output {name} is not an output of a layer" + (f"; did you mean {' or '.join(near)}?" if near else ""),
    )


@decides("Cli/zeros")
def _without_labels(net: Symbol) -> Symbol:
    """The network, with a new variable wherever a loss reads a value that is computed from labels.

    Outputs that need labels in another way are removed, unless all outputs do.
    """
    made: dict[int, Node] = {}
    labelled: set[int] = set()
    for node in net.order():
        if node.op is None:
            made[id(node)] = node
            if node.name.endswith("label"):
                labelled.add(id(node))
            continue
        slots = [*node.signature.inputs, *[""] * len(node.inputs)]  # an operator may take any number of inputs
        inputs = []
        for slot, (source, index) in zip(slots, node.inputs, strict=False):
            compared = slot == "label" and node.signature.is_loss
            if compared and id(source) in labelled and source.op is not None:
                inputs.append(Entry(Node(None, f"{node.name}_label"), 0))
                continue
            inputs.append(Entry(made[id(source)], index))
            if not compared and id(source) in labelled:
                labelled.add(id(node))
        changed = any(new is not old for (new, _), (old, _) in zip(inputs, node.inputs, strict=True))
        made[id(node)] = node.reading(inputs) if changed else node
    free = [entry for entry in net.entries if id(entry.node) not in labelled]
    return Symbol([Entry(made[id(entry.node)], entry.index) for entry in free or net.entries])
