"""mx.contrib.svrg_optimization: training with stochastic variance reduced gradients (spec/reference/training/svrg.md).

``svrg_module.py`` is the algorithm, ``full_pass.py`` sums the gradients of a whole data set, ``workers.py`` brings
these sums together when several workers train, ``svrg_optimizer.py`` is what their store runs, ``svrg_quirks.py`` lists
the quirks of MXNet 1.9.1.
"""

from . import svrg_module, svrg_optimizer

__all__ = ["svrg_module", "svrg_optimizer"]
