"""The operators: one page per operator or family. Importing this package registers them all.

To read one, open the file of its name. To add one, add a file: nothing else changes.
"""

import importlib
import pkgutil

from .foundation import MXNetError, distinct, get
from .foundation.harness import grad, run

for _page in sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.ispkg):
    importlib.import_module(f"{__name__}.{_page}")

__all__ = ["MXNetError", "distinct", "get", "grad", "run"]
