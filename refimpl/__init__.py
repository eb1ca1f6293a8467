"""refimpl: MXNet's symbolic training stack as an executable specification. ``import refimpl as mx``."""

from importlib import import_module as _import_module
from pathlib import Path as _Path

__version__ = "0.1.0"

# In a checkout the operators lie beside this package, in kernels/; an installed package holds them.
if not (_Path(__file__).parent / "kernels").is_dir():
    __path__.append(str(_Path(__file__).parent.parent))

from . import attribute, base, context, name, ndarray, random, symbol
from . import ndarray as nd
from . import random as rnd
from . import symbol as sym
from .attribute import AttrScope
from .base import MXNetError
from .context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus
from .ndarray import NDArray
from .symbol import Symbol

_MODULES = (
    "callback", "executor", "executor_manager", "initializer", "io", "kvstore", "lr_scheduler", "metric",
    "model", "module", "monitor", "optimizer", "visualization",
)
for _name in _MODULES:
    try:
        globals()[_name] = _import_module(f".{_name}", __name__)
    except ImportError as _e:
        print("MISSING", _name, _e)
_G = globals()
for _a, _b in (("mod","module"),("kv","kvstore"),("init","initializer"),("opt","optimizer"),("viz","visualization")):
    if _b in _G: _G[_a] = _G[_b]
