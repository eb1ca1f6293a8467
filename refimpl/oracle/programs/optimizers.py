"""Level 5: optimizers. The program's arrays are weights: their names are indices, as text or as numbers.

==============  =======================================================================================================
create          ``optimizer``, ``parameters``, ``schedule`` (see below, or null), ``names`` (pairs of index and name),
                ``variables`` (pairs of name and factor: a network whose variables have this ``lr_mult``)
multiply        ``rates`` and ``decays``: pairs of index or name, and factor
update          ``indices`` (all in one call), ``gradients``, and ``rows`` where gradients are row_sparse: for each
                gradient the rows that it stores, or null. Lets see the weights.
resume          states go to bytes, with the optimizer if ``whole``, and a new updater reads them; the weights are on
                ``device`` from then on
ask             ``numbers`` of updates, in any order. Lets see the rates that the schedule gives for them.
set_rate        ``value``: the learning rate from now on
seed            ``value``: random numbers begin anew from it
read            Lets see the learning rate and the number of updates.
==============  =======================================================================================================

A schedule is an object: ``kind`` (factor, multifactor, poly or cosine) and the arguments of its class.
"""

from .session import Session
from .values import array_of

SCHEDULES = {
    "factor": "FactorScheduler", "multifactor": "MultiFactorScheduler", "poly": "PolyScheduler",
    "cosine": "CosineScheduler",
}


def schedule_of(mx, schedule):
    """The learning rate scheduler that ``schedule`` describes."""
    arguments = {name: value for name, value in schedule.items() if name != "kind"}
    return getattr(mx.lr_scheduler, SCHEDULES[schedule["kind"]])(**arguments)


def rows_of(session, spec, rows, device=0):
    """A row_sparse array of the shape in ``spec`` whose rows ``rows`` are those of the described array."""
    mx, whole = session.mx, array_of(spec)
    made = mx.nd.sparse.row_sparse_array((whole[rows], rows), shape=whole.shape, dtype=whole.dtype)
    return made.as_in_context(mx.cpu(device))


class Optimizers(Session):
    """See the module's text."""

    def __init__(self, mx, program, look):
        super(Optimizers, self).__init__(mx, program, look)
        self.weights = {name: self.array(spec) for name, spec in sorted(program["arrays"].items())}
        self.made = {}
        self.multiplied = []
        self.device = 0
        self.optimizer = self.updater = None

    def create(self, optimizer, parameters=None, schedule=None, names=(), variables=None):
        """See the module's text."""
        self.made = {
            "optimizer": optimizer, "parameters": parameters, "schedule": schedule, "names": names,
            "variables": variables,
        }
        self._start()
        return ()

    def _start(self):
        made, arguments = self.made, dict(self.made["parameters"] or {})
        if made["schedule"] is not None:
            arguments["lr_scheduler"] = schedule_of(self.mx, made["schedule"])
        if made["names"]:
            arguments["param_idx2name"] = dict(made["names"])
        if made["variables"]:
            arguments["sym"] = self.mx.sym.Group([
                self.mx.sym.Variable(name, lr_mult=factor) for name, factor in made["variables"]
            ])
        self.optimizer = self.mx.optimizer.create(made["optimizer"], **arguments)
        self.updater = self.mx.optimizer.get_updater(self.optimizer)

    def multiply(self, rates=(), decays=()):
        """See the module's text."""
        self.multiplied = [dict(pairs) for pairs in (rates, decays)]
        self._multiply()
        return ()

    def _multiply(self):
        if self.multiplied:
            self.optimizer.set_lr_mult(self.multiplied[0])
            self.optimizer.set_wd_mult(self.multiplied[1])

    def update(self, indices, gradients, rows=None):
        """See the module's text."""
        rows = rows or [None] * len(gradients)
        given = [
            self.array(spec, self.device) if kept is None else rows_of(self, spec, kept, self.device)
            for spec, kept in zip(gradients, rows)
        ]
        weights = [self.weights[str(index)] for index in indices]
        if len(indices) == 1:
            self.updater(indices[0], given[0], weights[0])
        else:
            self.updater(list(indices), given, weights)
        return [("weight:%s" % index, self.seen(weight)) for index, weight in zip(indices, weights)]

    def resume(self, whole=False, device=None):
        """See the module's text."""
        self.mx.nd.waitall()
        if device is not None:
            self.device = device
            self.weights = {n: each.as_in_context(self.mx.cpu(device)) for n, each in self.weights.items()}
        content = self.updater.get_states(dump_optimizer=whole)
        self._start()
        if not whole:
            self._multiply()
        self.updater.set_states(content)
        self.optimizer = self.updater.optimizer
        return ()

    def set_rate(self, value):
        """See the module's text."""
        self.optimizer.set_learning_rate(value)
        return ()

    def ask(self, numbers):
        """See the module's text."""
        return [("rates", self.plain([self.optimizer.lr_scheduler(number) for number in numbers]))]

    def read(self):
        """See the module's text."""
        optimizer = self.optimizer
        return [("rate", self.plain([optimizer.learning_rate])), ("updates", self.plain([optimizer.num_update]))]
