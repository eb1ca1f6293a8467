"""``mx.rules``: every rule of the specification by its name, with the code that decides it and the tests that prove it.

    >>> import refimpl as mx
    >>> print(mx.rules["split/half-to-even"])          # doctest: +SKIP

A rule is a clause of a chapter in ``spec/`` or of an operator's page in ``kernels/``. The errors of this library name
theirs: ``mx.rules[error.clause]``. Neither chapters nor tests are installed with the package, so their words travel as
``index.json`` (``python spec/rules.py`` writes it); the rows of the deviations and the tests' source travel as files
that the wheel's build makes.
"""

from .mapping import Rules, rules
from .one_rule import Place, Rule

__all__ = ["Place", "Rule", "Rules", "rules"]
