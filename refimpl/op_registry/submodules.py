"""Names that a module of MXNet has and the module of that name here does not: MXNet defines or imports them there.

Scripts import from those modules, as in ``from mxnet.image.image import Augmenter``. Imports in the modules themselves
would go round in circles, so :func:`fill` puts the names there when everything is imported.
"""

from __future__ import annotations

from importlib import import_module

from ..base import decides

NAMES: dict[tuple[str, str], str] = {
    ("base", "ndarray.sparse"): "NotSupportedForSparseNDArray",
    ("executor_manager", "base"): "mx_real_t",
    ("executor_manager", "context"): "cpu",
    ("executor_manager", "io"): "DataDesc",
    ("image.detection", "image"): """
        ColorJitterAug HueJitterAug ImageDetIter ImageIter LightingAug RandomGrayAug RandomOrderAug
    """,
    ("image.image", "image"): """
        Augmenter BrightnessJitterAug CastAug CenterCropAug ColorJitterAug ColorNormalizeAug ContrastJitterAug
        CreateAugmenter ForceResizeAug HorizontalFlipAug HueJitterAug ImageIter LightingAug RandomCropAug
        RandomGrayAug RandomOrderAug RandomSizedCropAug ResizeAug SaturationJitterAug SequentialAug
    """,
    ("initializer", "base"): "string_types",
    ("initializer", "ndarray"): "sqrt",
    ("io.io", "base"): "mx_real_t",
    ("io.io", "io"): """
        CSVIter ImageDetRecordIter ImageRecordInt8Iter ImageRecordIter ImageRecordIter_v1 ImageRecordUInt8Iter
        ImageRecordUInt8Iter_v1 LibSVMIter MNISTIter
    """,
    ("io.io", "ndarray"): "NDArray array concat tile",
    ("io.io", "ndarray.sparse"): "CSRNDArray",
    ("kvstore.base", "base"): "string_types",
    ("kvstore.base", "ndarray"): "NDArray array",
    ("kvstore.kvstore", "ndarray"): "NDArray",
    ("metric", "base"): "numeric_types string_types",
    ("module.base_module", "io"): "DataIter",
    ("module.bucketing_module", "initializer"): "Uniform",
    ("module.bucketing_module", "model"): "load_params",
    ("module.bucketing_module", "name"): "NameManager",
    ("module.module", "initializer"): "InitDesc Uniform",
    ("module.module", "model"): "load_checkpoint",
    ("module.module", "ndarray"): "zeros",
    ("module.python_module", "initializer"): "Uniform",
    ("module.sequential_module", "initializer"): "Uniform",
    ("monitor", "ndarray"): "sqrt",
    ("ndarray.ndarray", "base"): "integer_types mx_real_t numeric_types",
    ("ndarray.ndarray", "ndarray"): """
        add arange concatenate divide equal eye from_dlpack from_numpy full greater greater_equal histogram imdecode
        lesser lesser_equal linspace logical_and logical_or logical_xor maximum minimum modulo moveaxis multiply
        not_equal onehot_encode ones power split_v2 subtract to_dlpack_for_read to_dlpack_for_write true_divide
        waitall zeros
    """,
    ("ndarray.random", "context"): "current_context",
    ("ndarray.sparse", "base"): "integer_types mx_real_t numeric_types",
    ("ndarray.sparse", "context"): "Context current_context",
    ("ndarray.sparse", "ndarray"): "NDArray",
    ("ndarray.utils", "base"): "string_types",
    ("ndarray.utils", "ndarray"): "NDArray",
    ("optimizer.contrib", "ndarray"): "clip mean sqrt square",
    ("optimizer.optimizer", "ndarray"): """
        NDArray adam_update array cast clip ftml_update ftrl_update lamb_update_phase1 lamb_update_phase2 maximum
        mp_lamb_update_phase1 mp_lamb_update_phase2 mp_nag_mom_update mp_sgd_mom_update mp_sgd_update multi_lars
        multi_mp_sgd_mom_update multi_mp_sgd_update multi_sgd_mom_update multi_sgd_update multi_sum_sq multiply
        nag_mom_update normal preloaded_multi_mp_sgd_mom_update preloaded_multi_mp_sgd_update
        preloaded_multi_sgd_mom_update preloaded_multi_sgd_update rmsprop_update rmspropalex_update sgd_mom_update
        sgd_update signsgd_update signum_update sqrt square zeros
    """,
    ("registry", "base"): "string_types",
    ("rnn.rnn_cell", "base"): "numeric_types string_types",
    ("symbol.random", "base"): "numeric_types",
    ("symbol.symbol", "attribute"): "AttrScope",
    ("symbol.symbol", "base"): "MXNetError integer_types string_types",
    ("symbol.symbol", "executor"): "Executor",
    ("symbol.symbol", "ndarray"): "NDArray array",
    ("symbol.symbol", "symbol"): """
        Group Variable arange eye full histogram hypot linspace load load_json maximum minimum ones pow power
        split_v2 var zeros
    """,
}
"""The names by (module that gets them, module that has them)."""


@decides("conventions/submodules")
def fill(package: str) -> None:
    """Give the modules of ``package`` their names."""
    for (target, source), names in NAMES.items():
        holder = import_module(f"{package}.{source}")
        vars(import_module(f"{package}.{target}")).update({name: getattr(holder, name) for name in names.split()})


__all__ = ["NAMES", "fill"]
