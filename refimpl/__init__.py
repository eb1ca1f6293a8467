"""refimpl: MXNet's symbolic training stack as an executable specification. ``import refimpl as mx``."""

from pathlib import Path as _Path

# In a checkout the operators lie beside this package, in kernels/; an installed package holds them.
if not (_Path(__file__).parent / "kernels").is_dir():
    __path__.append(str(_Path(__file__).parent.parent))
