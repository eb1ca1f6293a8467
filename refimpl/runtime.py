"""mx.runtime: what this build can do, under the names by which MXNet's users ask."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from llvmlite.binding import get_host_cpu_features

from .base import refusal
from .kernels.foundation.later import cuda

# What LLVM, which compiles the kernels, calls the abilities of this processor.
_PROCESSOR = {
    "CPU_SSE": "sse", "CPU_SSE2": "sse2", "CPU_SSE3": "sse3", "CPU_SSE4_1": "sse4.1",
    "CPU_SSE4_2": "sse4.2", "CPU_SSE4A": "sse4a", "CPU_AVX": "avx", "CPU_AVX2": "avx2", "F16C": "f16c",
}
_NAMES = (
    "CUDA", "CUDNN", "NCCL", "CUDA_RTC", "TENSORRT", "CPU_SSE", "CPU_SSE2", "CPU_SSE3", "CPU_SSE4_1",
    "CPU_SSE4_2", "CPU_SSE4A", "CPU_AVX", "CPU_AVX2", "OPENMP", "SSE", "F16C", "JEMALLOC", "BLAS_OPEN",
    "BLAS_ATLAS", "BLAS_MKL", "BLAS_APPLE", "LAPACK", "MKLDNN", "OPENCV", "CAFFE", "PROFILER",
    "DIST_KVSTORE", "CXX14", "INT64_TENSOR_SIZE", "SIGNAL_HANDLER", "DEBUG", "TVM_OP",
)


class Feature(NamedTuple):
    """One ability, and whether it is there."""

    name: str
    enabled: bool

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


def feature_list() -> list[Feature]:
    """Every feature. What rests on libraries that are not used here (cuDNN, BLAS, OpenCV, ...) is off."""
    processor = get_host_cpu_features()
    found = {name: bool(processor.get(flag, False)) for name, flag in _PROCESSOR.items()}
    found["CUDA"] = bool(cuda.is_available())
    found["INT64_TENSOR_SIZE"] = True  # positions in arrays are 64 bits wide
    found["PROFILER"] = True
    return [Feature(name, found.get(name, False)) for name in _NAMES]


class Features(OrderedDict):
    """The features by name; there is one such object."""

    _only: Features | None = None

    def __new__(cls) -> Features:
        """Return the one object, filled when first asked for."""
        if cls._only is None:
            cls._only = super().__new__(cls)
            OrderedDict.__init__(cls._only, [(feature.name, feature) for feature in feature_list()])
        return cls._only

    def __init__(self) -> None:
        """Leave the one object as it is."""

    def __repr__(self) -> str:
        return str(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Whether a feature is there; upper and lower case are the same.

        Raises:
            RuntimeError: no feature has this name.
        """
        name = feature_name.upper()
        if name not in self:
            raise refusal(
                "runtime/known-feature",
                f"Feature '{name}' is unknown, known features are: {list(self.keys())}", RuntimeError,
            )
        return self[name].enabled


__all__ = ["Feature", "Features", "feature_list"]
