"""refimpl: MXNet's symbolic training stack as an executable specification. ``import refimpl as mx``."""

import sys as _sys
from pathlib import Path as _Path

# refimpl/kernels is a link to ../kernels. A checkout without links (Windows, zip) has a text file in its place.
if not (_Path(__file__).parent / "kernels").is_dir():
    __path__.append(str(_Path(__file__).parent.parent))

# Ground floor first: each line may import from the lines above it, never from those below.
from . import base, libinfo, log, error, context, engine, util, name, attribute, registry, runtime  # noqa: I001
from . import recordio
from .op_registry import submodules as _submodules  # finds the modules that have no file, such as ndarray.op
from . import ndarray, random, symbol
from . import executor, autograd, executor_v2
from .executor import cached_op
from . import operator, profiler
from . import io, initializer, lr_scheduler, misc, optimizer, metric, kvstore
from . import image
from . import callback, monitor, executor_manager, model
from . import module
from . import rnn, data, visualization, test_utils, contrib
from . import image as img
from . import initializer as init
from . import kvstore as kv
from . import module as mod
from . import monitor as mon
from . import ndarray as nd
from . import optimizer as opt
from . import random as rnd
from . import symbol as sym
from . import visualization as viz
from .attribute import AttrScope
from .base import MXNetError
from .context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from .executor import Executor
from .libinfo import __version__ as __version__
from .ndarray import NDArray
from .quirks import quirks
from .rules import rules
from .symbol import Symbol
from .util import is_np_array, is_np_shape, np_array, np_shape, set_np_shape, use_np, use_np_array, use_np_shape

ndarray.CachedOp = cached_op.CachedOp  # type: ignore[misc]  # MXNet's name for it, declared there
test_utils.mx = _sys.modules[__name__]  # its star import brings mx, as MXNet's does
_submodules.fill(__name__)
if (_Path(__file__).parent / "replay").is_dir():  # a reader may take the folder away
    from . import replay as _replay  # noqa: F401  # it offers itself to engine.fast_road
quirks.read_environment()
engine.fast_road.read_switch()
util.warn_of_former_switches()
engine.compiling.listen()
globals()["__getattr__"] = _submodules.absent_attributes(__name__)  # not a def: a type checker would then take any name

# decides: conventions/names
__all__ = [
    "AttrScope", "Context", "Executor", "MXNetError", "NDArray", "Symbol", "attribute", "autograd", "base",
    "cached_op", "callback", "context", "contrib", "cpu", "cpu_pinned", "current_context", "data", "engine", "error",
    "executor", "executor_manager", "executor_v2", "gpu", "image", "img", "init", "initializer", "io", "is_np_array",
    "is_np_shape",
    "kv", "kvstore", "libinfo", "log", "lr_scheduler", "metric", "misc", "mod", "model", "module", "mon", "monitor",
    "name", "nd", "ndarray", "np_array", "np_shape", "num_gpus", "onnx", "operator", "opt", "optimizer", "profiler",
    "quirks",
    "random", "recordio", "registry", "rnd", "rnn", "rules", "runtime", "set_np_shape", "sym", "symbol", "test_utils",
    "use_np", "use_np_array", "use_np_shape", "util", "visualization", "viz",
]
