"""Modules of MXNet that have no file here, and names that a module of MXNet has and the module of that name here lacks.

``ABSENT`` lists the modules that are left out: importing one says what stands instead. ``ALIASES`` lists second names
of modules. ``OPERATORS`` lists modules that hold operators and nothing else, such as ``mx.nd.op``: their functions are
made from the registry, and a type checker reads the generated stub of the same name. ``FINDER`` answers imports of all
three.

``NAMES`` lists names that MXNet's modules define or import. Scripts import them from there, as in
``from mxnet.image.image import Augmenter``. Imports in the modules themselves would go round in circles, so that
:func:`fill` puts the names there when everything is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ..base import decides, refusal
from . import namespaces

PACKAGE = __name__.partition(".")[0]

# --- modules that are not here ---------------------------------------------------------------------

_NUMPY = "mx.nd and mx.sym have the operators; see spec/reference/arrays/ndarray.md"
_GLUON = (
    "build the network with mx.sym and train it with mx.mod.Module, or record with mx.autograd;"
    " see spec/reference/training/module.md"
)
_INT8 = (
    "mx.nd.contrib and mx.sym.contrib have the operators on quantized numbers, but nothing rewrites a network;"
    " load the checkpoint from before quantization; see spec/reference/files/checkpoint.md"
)
_KERNELS = "write an operator in Python with mx.operator.CustomOp; see spec/reference/arrays/custom-operators.md"
_TORCH = "write the operator or loss in Python with mx.operator.CustomOp; see spec/reference/arrays/custom-operators.md"

ABSENT: dict[str, str] = {
    "gluon": _GLUON, "np": _NUMPY, "numpy": _NUMPY, "npx": _NUMPY, "numpy_extension": _NUMPY, "rtc": _KERNELS,
    "th": _TORCH, "torch": _TORCH, "contrib.quant": _INT8,
    "contrib.quantization": _INT8,
    "contrib.io": "mx.io has the iterators; see spec/reference/training/data.md",
    "contrib.tensorboard": "a batch_end_callback reads param.eval_metric; see spec/reference/training/metrics.md",
    "contrib.text": "collections.Counter counts tokens, and arg_params hold vectors;"
    " see spec/reference/files/checkpoint.md",
    "notebook": "watch training with mx.callback and mx.mon.Monitor, or see a step by `refimpl explain`;"
    " see spec/reference/tools/explain.md",
}
"""The modules of MXNet 1.9.1 that are not here on purpose, and what stands instead."""


LATE = ("onnx", "contrib.onnx")
"""Modules that are imported when they are first asked for, because scripts that train ask for none of them."""


def absent(module: str, kind: type[Exception] = ImportError) -> Exception:
    """The error of asking for a module of :data:`ABSENT`, in one line."""
    return refusal("runtime/absent-module", f"mx.{module} is not here: {ABSENT[module]}", kind)


def absent_attributes(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: imports late modules, and says what stands instead of absent ones."""
    parent = package.partition(".")[2]

    def attribute(name: str) -> Any:
        module = f"{parent}.{name}" if parent else name
        if module in LATE:
            return import_module(f"{package}.{name}")
        if module in ABSENT:
            raise absent(module, AttributeError)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute


# --- modules without a file ------------------------------------------------------------------------

ALIASES = {"contrib.nd": "contrib.ndarray", "contrib.sym": "contrib.symbol"}
"""Second name of a module -> the module."""


class Operators(NamedTuple):
    """What a module of operators holds."""

    words: str
    """The words of the module's docstring."""
    fill: Callable[[dict[str, Any], Callable], list[str]]
    """Puts the functions into the module's globals and returns their names."""


_PUBLIC = Operators("every operator whose name does not begin with an underscore, as a function", namespaces.fill)
_INTERNAL = Operators(
    "operators whose names begin with an underscore, as functions", partial(namespaces.fill, internal=True),
)
_LINALG = Operators("the operators ``_linalg_...`` as functions", partial(namespaces.fill, prefix="_linalg_"))
_IMAGE = Operators("the operators ``_image_...`` as functions", partial(namespaces.fill, prefix="_image_"))
_CONTRIB = Operators("the operators ``_contrib_...`` as functions", partial(namespaces.fill, prefix="_contrib_"))
# a graph holds dense arrays only, so that mx.sym.sparse has the dense operators of these names
_SPARSE = Operators("the operators that MXNet has in mx.nd.sparse, as functions", namespaces.fill_sparse)

OPERATORS: dict[str, Operators] = {
    "ndarray.contrib_operators": _CONTRIB, "ndarray.image": _IMAGE, "ndarray.linalg": _LINALG, "ndarray.op": _PUBLIC,
    "ndarray.sparse.op": _SPARSE,
    "symbol._internal": _INTERNAL, "symbol.contrib_operators": _CONTRIB, "symbol.image": _IMAGE,
    "symbol.linalg": _LINALG, "symbol.op": _PUBLIC, "symbol.sparse": _SPARSE,
}
"""Module -> its operators: functions on arrays below ``ndarray``, on symbols below ``symbol``."""


class ModuleFinder(MetaPathFinder, Loader):
    """Finds the modules of the three tables, and loads them."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of the tables; None for any other."""
        package, _, name = fullname.partition(".")
        if package != PACKAGE or not (name in ABSENT or name in ALIASES or name in OPERATORS):
            return None
        spec = ModuleSpec(fullname, self)
        if name in OPERATORS:  # inspect shows the stub
            spec.origin = str(Path(__file__).parents[1].joinpath(*name.split(".")).with_suffix(".pyi"))
            spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Load a module of the tables.

        Raises:
            ImportError: the module is not here; the message says what stands instead.
        """
        name = module.__name__.partition(".")[2]
        if name in ABSENT:
            raise absent(name)
        if name in ALIASES:
            # the import system hands out what stands here afterwards
            sys.modules[module.__name__] = import_module(f"{PACKAGE}.{ALIASES[name]}")
            return
        package, _, rest = name.partition(".")
        short, kind = ("nd", "arrays") if package == "ndarray" else ("sym", "symbols")
        operators, make = OPERATORS[name], import_module(f"{PACKAGE}.{package}.operators").make_function
        names = operators.fill(vars(module), make)
        vars(module).update(__doc__=f"mx.{short}.{rest}: {operators.words} on {kind}.", __all__=names)


FINDER = ModuleFinder()
sys.meta_path.insert(0, FINDER)  # before that of an editable install, which may know another checkout


# --- names of other modules ------------------------------------------------------------------------

NAMES: dict[tuple[str, str], str] = {
    ("attribute", "base"): "string_types",
    ("autograd", "base"): "string_types",
    ("base", "ndarray.sparse"): "NotSupportedForSparseNDArray",
    ("contrib.autograd", "base"): "string_types",
    ("contrib.autograd", "ndarray"): "zeros_like",
    ("executor", "executor_manager"): "_check_arguments _load_data _load_label _split_input_slice",
    ("executor_manager", "base"): "mx_real_t",
    ("executor_manager", "context"): "cpu",
    ("executor_manager", "io"): "DataDesc",
    ("image", "base"): "numeric_types",
    ("image", "util"): "is_np_array",
    ("image.detection", "image"): """
        ColorJitterAug HueJitterAug ImageDetIter ImageIter LightingAug RandomGrayAug RandomOrderAug
    """,
    ("image.detection", "util"): "is_np_array",
    ("image.image", "image"): """
        Augmenter BrightnessJitterAug CastAug CenterCropAug ColorJitterAug ColorNormalizeAug ContrastJitterAug
        CreateAugmenter ForceResizeAug HorizontalFlipAug HueJitterAug ImageIter LightingAug RandomCropAug
        RandomGrayAug RandomOrderAug RandomSizedCropAug ResizeAug SaturationJitterAug SequentialAug
    """,
    ("image.image", "util"): "is_np_array",
    ("initializer", "base"): "string_types",
    ("initializer", "ndarray"): "sqrt",
    ("io.io", "base"): "mx_real_t",
    ("io.io", "io"): """
        CSVIter ImageDetRecordIter ImageRecordInt8Iter ImageRecordIter ImageRecordIter_v1 ImageRecordUInt8Iter
        ImageRecordUInt8Iter_v1 LibSVMIter MNISTIter
    """,
    ("io.io", "ndarray"): "NDArray array concat tile",
    ("io.io", "ndarray.sparse"): "CSRNDArray",
    ("io.utils", "ndarray"): "array",
    ("io.utils", "ndarray.sparse"): "CSRNDArray",
    ("kvstore.base", "base"): "string_types",
    ("kvstore.base", "ndarray"): "NDArray array",
    ("kvstore.kvstore", "ndarray"): "NDArray",
    ("kvstore.kvstore_server", "kvstore"): "create",
    ("metric", "base"): "numeric_types string_types",
    ("model", "executor_manager"): "_check_arguments _load_data",
    ("module.base_module", "io"): "DataIter",
    ("module.bucketing_module", "initializer"): "Uniform",
    ("module.bucketing_module", "model"): "load_params",
    ("module.bucketing_module", "module.base_module"): "_check_input_names",
    ("module.bucketing_module", "name"): "NameManager",
    ("module.module", "initializer"): "InitDesc Uniform",
    ("module.module", "model"): """
        _create_kvstore _initialize_kvstore _update_params _update_params_on_kvstore load_checkpoint
    """,
    ("module.module", "ndarray"): "zeros",
    ("module.python_module", "initializer"): "Uniform",
    ("module.sequential_module", "initializer"): "Uniform",
    ("monitor", "ndarray"): "sqrt",
    ("ndarray.contrib", "ndarray.random"): "uniform",
    ("ndarray.ndarray", "base"): "integer_types mx_real_t numeric_types",
    ("ndarray.ndarray", "ndarray"): """
        add arange concatenate divide equal eye from_dlpack from_numpy full greater greater_equal histogram
        imdecode lesser lesser_equal linspace logical_and logical_or logical_xor maximum minimum modulo moveaxis
        multiply not_equal onehot_encode ones power split_v2 subtract to_dlpack_for_read to_dlpack_for_write
        true_divide waitall zeros
    """,
    ("ndarray.ndarray", "runtime"): "Features",
    ("ndarray.ndarray", "util"): "is_np_array",
    ("ndarray.random", "context"): "current_context",
    ("ndarray.sparse", "base"): "integer_types mx_real_t numeric_types",
    ("ndarray.sparse", "context"): "Context current_context",
    ("ndarray.sparse", "ndarray"): "NDArray",
    ("ndarray.utils", "base"): "string_types",
    ("ndarray.utils", "ndarray"): "NDArray",
    ("optimizer.contrib", "ndarray"): "clip mean sqrt square",
    ("optimizer.optimizer", "ndarray"): """
        NDArray adam_update array cast clip ftml_update ftrl_update lamb_update_phase1 lamb_update_phase2
        maximum mp_lamb_update_phase1 mp_lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update mp_sgd_update
        multi_lars multi_mp_sgd_mom_update multi_mp_sgd_update multi_sgd_mom_update multi_sgd_update
        multi_sum_sq multiply nag_mom_update preloaded_multi_mp_sgd_mom_update preloaded_multi_mp_sgd_update
        preloaded_multi_sgd_mom_update preloaded_multi_sgd_update rmsprop_update rmspropalex_update
        sgd_mom_update sgd_update signsgd_update signum_update sqrt square zeros
    """,
    ("optimizer.optimizer", "random"): "normal",
    ("optimizer.optimizer", "util"): "is_np_array",
    ("registry", "base"): "string_types",
    ("rnn", "base"): "numeric_types string_types",
    ("rnn.rnn_cell", "base"): "numeric_types string_types",
    ("symbol.contrib", "attribute"): "AttrScope",
    ("symbol.contrib", "symbol.random"): "uniform",
    ("symbol.random", "base"): "numeric_types",
    ("symbol.symbol", "attribute"): "AttrScope",
    ("symbol.symbol", "base"): "MXNetError integer_types string_types",
    ("symbol.symbol", "executor"): "Executor",
    ("symbol.symbol", "ndarray"): "NDArray array",
    ("symbol.symbol", "symbol"): """
        Group Variable arange eye full histogram hypot linspace load load_json maximum minimum ones pow power
        split_v2 var zeros
    """,
    ("symbol.symbol", "util"): "is_np_shape",
}
"""The names by (module that gets them, module that has them)."""


@decides("conventions/submodules")
def fill(package: str) -> None:
    """Give the modules of ``package`` their names, without those of operators that have no page here."""
    for (target, source), names in NAMES.items():
        holder = vars(import_module(f"{package}.{source}"))
        vars(import_module(f"{package}.{target}")).update({n: holder[n] for n in names.split() if n in holder})


__all__ = ["ABSENT", "ALIASES", "FINDER", "NAMES", "OPERATORS", "absent_attributes", "fill"]
