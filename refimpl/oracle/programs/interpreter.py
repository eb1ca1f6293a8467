"""The meaning of a program in the 1.x API: ``run(mx, program)``, where ``mx`` is either library.

The result is a *trace*: the arrays that each step records, by the number of the step and a name.

    {"1/output0": array, "2/gradient:a": array, "2/argument:a": array, ...}

Steps of levels 1 and 2:

==========  ===========================================================================================================
bind        ``requirements`` (argument -> write, add or null; those not named are null), ``gradients`` (argument ->
            array that its gradient holds before; NaN otherwise, so that what nobody writes shows)
forward     ``train``, and ``arrays`` that are set before, handed to the call itself if ``keywords``. Lets see outputs
            and auxiliary states.
backward    ``heads``: arrays, or null where a loss needs none; ``train``: false for gradients of a pass for inference.
            Lets see gradients and auxiliary states.
reshape     ``arrays``: new values of other shapes for some arguments; all others keep theirs.
share       binds a second executor to the same arguments and gradients, and uses that from now on
monitor     a Monitor watches this executor from now on, inputs of operators too if ``inputs``. Each pass then lets see
            what it notes, by name and, of one name, in the order of time.
seed        ``value``: random numbers begin anew from it, if the implementation has seeds
outputs     lets see the outputs of the last forward pass once more
read        lets see arguments, which some operators change
==========  ===========================================================================================================

``modules``, ``buckets``, ``optimizers`` and ``stores`` say what the steps of levels 3 to 6 are. Any step may have
``attempt``: true: the implementation may refuse it, the trace then holds ``refused:`` and the kind of error, and
the program goes on.
"""

from .buckets import Buckets
from .modules import Modules
from .optimizers import Optimizers
from .session import Session
from .stores import Stores
from .values import array_of


class Refused(Exception):
    """The implementation refused a step: its own error, as text."""


def elements(array):
    """The entry of an NDArray in a trace by default: a copy of its elements."""
    return array.asnumpy()


def run(mx, program, look=elements):
    """Run a program.

    Args:
        mx: the library, or one with the same API.
        program: a checked program.
        look: turns an NDArray into its entry in the trace.

    Returns:
        the trace, a dict in the order of the steps.

    Raises:
        Refused: the library raised an error, with its type and text.
    """
    return followed(begun(mx, program, look))


def begun(mx, program, look=elements, sessions=None):
    """A session, which :func:`followed` lets run; the arguments are those of :func:`run`, and maybe other sessions."""
    try:
        return (sessions or SESSIONS)[program["level"]](mx, program, look)
    except Exception as error:
        raise Refused("%s: %s" % (type(error).__name__, error)) from error


def needed_steps(program, names):
    """The numbers of the steps that lead to some arrays of a trace, if no operator changes its inputs.

    Steps after the last of these arrays are left out, and backward passes if none of the arrays is a gradient.
    """
    numbers = [int(name.partition("/")[0]) for name in names]
    last = max(numbers)
    asked = any(program["steps"][number]["do"] == "backward" for number in numbers)
    return [i for i, step in enumerate(program["steps"][: last + 1]) if asked or step["do"] != "backward"]


def followed(session, needed=None):
    """The trace of a session's program: of the steps with the numbers ``needed``, or of all."""
    trace = {}
    session.forget_failures()
    try:
        for number, step in enumerate(session.program["steps"]):
            if needed is not None and number not in needed:
                continue
            fields = {key: value for key, value in step.items() if key not in ("do", "attempt")}
            session.number = number
            try:
                for name, value in getattr(session, step["do"])(**fields):
                    if value is not None:
                        trace["%d/%s" % (number, name)] = value
            except Exception as error:
                session.failed = True
                if not step.get("attempt"):
                    session.forget_failures()
                    raise Refused("step %d (%s): %s: %s" % (number, step["do"], type(error).__name__, error)) from error
                trace["%d/refused:%s" % (number, type(error).__name__)] = session.plain([1])
    finally:
        session.close()
    return trace


class Graph(Session):
    """Levels 1 and 2: one executor."""

    def __init__(self, mx, program, look):
        super(Graph, self).__init__(mx, program, look)
        self.symbol = self.graph
        self.names = self.symbol.list_arguments()
        self.names_of_states = self.symbol.list_auxiliary_states()
        self.first = self.kept = None
        self.arguments = {}
        self.states = {}
        self.gradients = {}
        self.requirements = {}
        self.executor = None
        self.watch = None
        self.noted = []

    def seen_of(self, name, array):
        """The trace's entry for an array under a name; None for no entry."""
        del name
        return self.seen(array)

    def again(self, look):
        """See ``Session.again``."""
        self.look, self.kept = look, self.first
        return self.kept is not None and not self.failed

    def bind(self, requirements=None, gradients=None):
        """See the module's text."""
        self.watch = None
        if self.kept is None:
            self._bind_new(requirements or {}, gradients or {})
            self.first = self.first or (self.executor, self.arguments, self.states, dict(self.gradients))
        else:
            self.executor, self.arguments, self.states, self.gradients = self.kept
            self.kept = None
            for name, array in [*self.arguments.items(), *self.states.items()]:
                array[:] = array_of(self.program["arrays"][name])
            for name, array in self.gradients.items():
                array[:] = array_of(gradients[name]) if name in (gradients or ()) else float("nan")
        return ()

    def _bind_new(self, requirements, given):
        arrays = self.program["arrays"]
        self.arguments = {name: self.array(arrays[name]) for name in self.names}
        self.states = {name: self.array(arrays[name]) for name in self.names_of_states}
        self.requirements = {name: "null" for name in self.arguments}
        self.requirements.update(requirements)
        for name, requirement in self.requirements.items():
            if requirement != "null":
                like = self.arguments[name]
                self.gradients[name] = (
                    self.array(given[name]) if name in given
                    else self.mx.nd.full(like.shape, float("nan"), dtype=like.dtype)
                )
        self._bind()

    def _bind(self, shared=None):
        self.executor = self.symbol.bind(
            self.mx.cpu(), args=self.arguments, args_grad=self.gradients, grad_req=self.requirements,
            aux_states=self.states, shared_exec=shared,
        )

    def share(self):
        """See the module's text."""
        self._bind(self.executor)
        self.watch = None
        return ()

    def monitor(self, inputs=False):
        """See the module's text."""
        def note(array):
            self.noted.append(self.look(array))
            return array

        self.watch = self.mx.mon.Monitor(1, note, monitor_all=inputs)
        self.watch.install(self.executor)
        return ()

    def forward(self, train=False, arrays=None, keywords=False):
        """See the module's text."""
        given = {name: self.array(spec) for name, spec in (arrays or {}).items()}
        if not keywords:
            for name, array in given.items():
                self.arguments[name][:] = array
        self._begin()
        outputs = self.executor.forward(is_train=train, **(given if keywords else {}))
        yield from self._named("output%d", enumerate(outputs))
        yield from self._states()
        yield from self._end()

    def _begin(self):
        if self.watch is not None:
            self.noted = []
            self.watch.tic()

    def _end(self):
        """The monitor's notes since the last call."""
        if self.watch is None:
            return
        counts = {}
        for (_, name, _), value in zip(self.watch.toc(), self.noted):
            counts[name] = counts.get(name, -1) + 1
            yield "monitor:%s@%d" % (name, counts[name]), value

    def outputs(self):
        """See the module's text."""
        return self._named("output%d", enumerate(self.executor.outputs))

    def _named(self, form, arrays):
        return [(form % key, self.seen_of(form % key, array)) for key, array in arrays]

    def backward(self, heads=None, train=True):
        """See the module's text."""
        given = None if heads is None else [self.array(spec) for spec in heads]
        self._begin()
        self.executor.backward(given, is_train=train)
        self.mx.nd.waitall()
        arrays = self.executor.grad_dict
        yield from self._named("gradient:%s", [(name, arrays[name]) for name in self.gradients])
        yield from self._states()
        yield from self._end()

    def reshape(self, arrays):
        """See the module's text."""
        shapes = {name: tuple(spec["shape"]) for name, spec in arrays.items()}
        self.executor = self.executor.reshape(partial_shaping=True, allow_up_sizing=True, **shapes)
        self.watch = None
        self.arguments = dict(self.executor.arg_dict)
        for name, spec in arrays.items():
            self.arguments[name][:] = self.array(spec)
        for name, gradient in self.executor.grad_dict.items():
            if gradient is not None and name in arrays:
                gradient[:] = 0  # new memory holds anything
        self.gradients = {name: self.executor.grad_dict[name] for name in self.gradients}
        return ()

    def read(self):
        """See the module's text."""
        arrays = self.executor.arg_dict
        return self._named("argument:%s", [(name, arrays[name]) for name in self.names])

    def _states(self):
        if not self.names_of_states:
            return []
        arrays = self.executor.aux_dict
        return self._named("state:%s", [(name, arrays[name]) for name in self.names_of_states])


SESSIONS = {1: Graph, 2: Graph, 3: Modules, 4: Buckets, 5: Optimizers, 6: Stores}
"""Level -> what runs the steps of its programs."""
