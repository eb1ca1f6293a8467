"""The operators: one page per operator or family. Importing this package registers them all.

To read one, open the file of its name. To add one, add a file: nothing else changes.
"""

import importlib
import pkgutil

from .foundation import MXNetError, distinct, get
from .foundation.harness import grad, run

_found = sorted((m.ispkg, m.name) for m in pkgutil.iter_modules(__path__))
for _is_folder, _page in _found:
    if not _is_folder:
        importlib.import_module(f"{__name__}.{_page}")
# Twins replace loops of the pages that are read by now. Without these folders every loop runs as it reads.
for _is_folder, _folder in _found:
    if _folder in ("blocks", "tuned"):
        for _module in pkgutil.iter_modules(importlib.import_module(f"{__name__}.{_folder}").__path__):
            importlib.import_module(f"{__name__}.{_folder}.{_module.name}")

__all__ = ["MXNetError", "distinct", "get", "grad", "run"]
