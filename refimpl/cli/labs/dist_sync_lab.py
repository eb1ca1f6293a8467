"""The lab on the parameter server: a step of its own, judged by histories of a simulated cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base import MXNetError
from ...kvstore import Faults, histories
from ...kvstore import messages as say
from ...kvstore.server import Server
from ...oracle.backends.simulated_cluster import Scripts, run_tagged
from ...oracle.drawing.draws import Draw
from .lab import Broken, Lab, Law, demand, shown

STUB = '''
"""A parameter server for several workers, as a function.

{rules}

In this lab an array begins with zeros, and the optimizer adds: the new value is the old value plus the sum of a round.
"""

import numpy as np


def start(workers):
    """The state of a server that has heard nothing yet and expects so many workers. It may be any value."""
    raise NotImplementedError("write this function")


def step(state, worker, number, ask):
    """What a server does with one message: (its next state, a list of replies).

    Args:
        state: what step or start returned; it stays as it is. A server that crashes goes on from here.
        worker: who sent the message, 0 to workers - 1.
        number: the messages of each worker are numbered from 0. They may overtake each other, and arrive twice.
        ask: one of
            ("hello",)            answer "done"
            ("init", key, zeros)  give the key its first value, if it has none, and answer "done"
            ("push", key, array)  keep the push for its round, and answer "done" at once
            ("pull", key)         answer the value of the key, as soon as this worker may have it

    Returns:
        The next state, and replies: a list of (worker, number, answer), where answer is "done" or an array of float32.
        A pull that has to wait gets no reply now; a later step replies to it. A message that comes again gets the
        same answer as the first time, if there was one yet, and does nothing else.

    >>> state, replies = step(start(1), 0, 0, ("init", "w", np.float32([0])))
    >>> replies
    [(0, 0, 'done')]
    >>> state, replies = step(state, 0, 1, ("push", "w", np.float32([5])))
    >>> step(state, 0, 2, ("pull", "w"))[1]
    [(0, 2, array([5.], dtype=float32))]
    """
    raise NotImplementedError("write this function")
'''

LARGE = 1e8
Replies = list[tuple[int, int, Any]]


def checked(replies: Any) -> Replies:
    """The student's replies, checked for the form that the task asks for."""
    right = isinstance(replies, (list, tuple)) and all(isinstance(one, tuple) and len(one) == 3 for one in replies)
    demand(right, "replies as a list of (worker, number, answer)", replies)
    for _, _, answer in replies:
        array = isinstance(answer, np.ndarray)
        demand(array or (isinstance(answer, str) and answer == "done"), 'answers that are "done" or an array', answer)
    return [(who, which, answer if isinstance(answer, str) else answer.copy()) for who, which, answer in replies]


# --- by hand ------------------------------------------------------------------------------------------


class Talk:
    """A server to which messages are sent by hand; ``state`` is the student's."""

    def __init__(self, student: Any, workers: int) -> None:
        self.student, self.step = student, student.quietly("step")
        self.state = student.quietly("start")(workers)
        self.numbers = [0] * workers
        student.note(f"state = start({workers})")

    def ask(self, worker: int, *ask: Any, number: int | None = None) -> Replies:
        """Send a message; the replies."""
        number = self.numbers[worker] if number is None else number
        self.numbers[worker] = max(self.numbers[worker], number + 1)
        line = f"worker {worker}, message {number}: {shown(ask)}"
        self.student.note(line)
        found = self.step(self.state, worker, number, ask)
        demand(isinstance(found, tuple) and len(found) == 2, "a state and a list of replies", found)
        self.state, replies = found[0], checked(found[1])
        self.student.lines[-1] = f"{line} -> {shown(replies)}"
        return replies


def _replied(replies: Replies, expected: Replies) -> None:
    def plain(found: Replies) -> list[Any]:
        return sorted(([who, number, shown(answer)] for who, number, answer in found), key=str)

    demand(plain(replies) == plain(expected), f"the replies {shown(expected)}", shown(replies))


def _ready(student: Any, workers: int) -> Talk:
    talk = Talk(student, workers)
    for worker in range(workers):
        talk.ask(worker, "init", "w", np.zeros(1, np.float32))
    return talk


def _vector(value: float) -> np.ndarray:
    return np.array([value], np.float32)


def _order_of_workers(draw: Draw, count: int) -> list[int]:
    left, order = list(range(count)), []
    while left:
        order.append(left.pop(draw.integer(0, len(left) - 1)))
    return order


def _rank_order(student: Any, draw: Draw) -> None:
    workers = draw.integer(1, 4)
    values = [draw.choice([1.0, LARGE, -LARGE]) for _ in range(workers)]
    talk = _ready(student, workers)
    for worker in _order_of_workers(draw, workers):
        talk.ask(worker, "push", "w", _vector(values[worker]))
    total = np.float32(0)
    for rank, value in enumerate(values):
        total = np.float32(value) if rank == 0 else np.float32(total + np.float32(value))
    _replied(talk.ask(0, "pull", "w"), [(0, talk.numbers[0] - 1, _vector(float(total)))])


def _pull_own(student: Any, draw: Draw) -> None:
    """A pull waits for the round of its worker's push; one without a push of its own waits for nobody."""
    workers = draw.integer(2, 3)
    talk, (first, *others) = _ready(student, workers), _order_of_workers(draw, workers)
    talk.ask(first, "push", "w", _vector(1))
    _replied(talk.ask(others[0], "pull", "w"), [(others[0], talk.numbers[others[0]] - 1, _vector(0))])
    waiting = talk.numbers[first]
    _replied(talk.ask(first, "pull", "w"), [])
    for place, other in enumerate(others):
        replies = talk.ask(other, "push", "w", _vector(2 + place))
        expected: Replies = [(other, talk.numbers[other] - 1, "done")]
        if place == len(others) - 1:
            expected.append((first, waiting, _vector(sum(range(workers + 1)))))
        _replied(replies, expected)


def _ahead(student: Any, draw: Draw) -> None:
    """One worker is some pushes ahead of the other."""
    rounds = draw.integer(1, 3)
    talk = _ready(student, 2)
    for number in range(rounds):
        talk.ask(0, "push", "w", _vector(2.0**number))
    for number in range(rounds):
        talk.ask(1, "push", "w", _vector(16))
        expected = 2.0 ** (number + 1) - 1 + 16 * (number + 1)
        _replied(talk.ask(1, "pull", "w"), [(1, talk.numbers[1] - 1, _vector(expected))])


def _once(student: Any, draw: Draw) -> None:
    """Messages of one worker arrive in any order, some of them twice; then all of them in order once more."""
    asks: list[Any] = [("init", "w", np.zeros(1, np.float32))]
    asks += [draw.choice([("push", "w", _vector(2.0**n)), ("pull", "w")]) for n in range(draw.integer(1, 3))]
    values, answers = 0.0, list[Any]()
    for ask in asks:
        values += float(ask[2][0]) if ask[0] == "push" else 0
        answers.append(_vector(values) if ask[0] == "pull" else "done")
    sent = _order_of_workers(draw, len(asks))
    sent = [number for number in sent for _ in range(1 + draw.one_in(4))]
    talk, arrived, executed = Talk(student, 1), set[int](), 0
    for number in [*sent, *range(len(asks))]:
        expected: Replies = [(0, number, answers[number])] if number < executed else []
        arrived.add(number)
        while executed in arrived:
            expected.append((0, executed, answers[executed]))
            executed += 1
        _replied(talk.ask(0, *asks[number], number=number), expected)


def _pure(student: Any, draw: Draw) -> None:
    """The same step from the same state gives the same replies, whichever steps ran in between."""
    talk = _ready(student, 2)
    for _ in range(draw.integer(0, 3)):
        talk.ask(draw.integer(0, 1), "push", "w", _vector(draw.integer(1, 4)))
    worker = draw.integer(0, 1)
    ask = ("pull", "w") if draw.boolean() else ("push", "w", _vector(draw.integer(1, 4)))
    state, numbers = talk.state, list(talk.numbers)
    first = talk.ask(worker, *ask)
    if draw.boolean():
        talk.ask(1 - worker, "push", "w", _vector(8))
    talk.state, talk.numbers = state, numbers
    student.note("the server crashes, and goes on from the state before the last messages")
    _replied(talk.ask(worker, *ask), first)


# --- in a cluster -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Serving(Server):
    """A server's value that carries the student's state."""

    lab: Any = None


def _asked(body: Any) -> tuple[Any, ...]:
    if isinstance(body, say.Init):
        return "init", body.part.key, np.zeros(body.shape, np.float32)
    if isinstance(body, say.Push):
        return "push", body.part.key, body.value
    return ("pull", body.part.key) if isinstance(body, say.Pull) else ("hello",)


def serving(student: Any, workers: int) -> Any:
    """The student's step as the step of a simulated server."""
    step, begin = student.quietly("step"), student.quietly("start")

    def serve(server: Server, request: say.Request) -> tuple[Server, list[say.Reply]]:
        if not isinstance(server, Serving):
            server = Serving(**vars(server), lab=begin(workers))
        ask = _asked(request.body)
        line = f"worker {request.worker}, message {request.number}: {shown(ask)}"
        student.note(line)
        found = step(server.lab, request.worker, request.number, ask)
        demand(isinstance(found, tuple) and len(found) == 2, "a state and a list of replies", found)
        replies = checked(found[1])
        student.lines[-1] = f"{line} -> {shown(replies)}"
        sent = [
            say.Reply(who, 0, number, say.Done() if isinstance(answer, str) else say.Held(answer, 0))
            for who, number, answer in replies
        ]
        return replace(server, lab=found[0]), sent

    return serve


def _history(student: Any, draw: Draw, *, storm: bool) -> None:
    workers, keys = draw.integer(1, 3), ["w", "b"][: draw.integer(1, 2)]
    script: list[tuple[str, Any]] = []
    for _ in range(draw.integer(1, 3)):
        script.append(("push", draw.choice(keys)))
        if draw.boolean():
            script.append(("pull", draw.choice(keys)))
    program = Scripts("dist_sync", 1, dict.fromkeys(keys, 1), [script] * workers)
    faults = Faults(drops=4, duplicates=4) if storm else False
    schedule = [draw.integer(0, 11) for _ in range(24 if storm else 12)]
    try:
        outcome = run_tagged(
            program, faults=faults, schedule=schedule, step=serving(student, workers), waits=True,
        )
    except MXNetError as error:
        raise Broken("workers that come to their end", str(error)) from error
    found = histories.check(outcome.history, "dist_sync")
    if found:
        raise Broken("pulls as a sound server answers them", str(found[0]))
    if outcome.failures:
        raise Broken("workers that come to their end", str(outcome.failures[0]))


LAB = Lab(
    name="dist-sync", title="A server that loses nothing", chapter="spec/reference/stores/cluster.md",
    task="""
Several workers train one network, and a server adds up what they push. Write the server as a function of its state and
a message. Then it is put into a simulated cluster whose network delays, drops and repeats messages and lets them
overtake each other, and what the workers pulled is judged: `refimpl.kvstore.histories` finds pushes that were lost,
doubled or handed out too early.
""",
    stub=STUB,
    answers=frozenset({"kv", "kvstore"}),
    words={
        "Cluster/pull-own": "A push is answered at once. A pull is answered with the value after the last round in"
        " which the pulling worker has pushed; where others have not pushed to that round yet, the answer waits for"
        " them.",
        "Cluster/ahead": "A worker may push several times before the others do; each push is kept until its round is"
        " complete.",
        "Cluster/once": "The messages of a worker are executed in the order of their numbers, and each once: one that"
        " arrives too early is kept until those before it have arrived, and one that arrives again gets the same"
        " answer as the first time.",
        "Cluster/sync-round": "The first push of every worker to a key makes round 1, the second of every worker"
        " round 2. When the last push of a round has arrived, the sum of its pushes is added to the value of the key.",
        "Cluster/rank-order": "The pushes of a round are added from the left in the order of the workers' numbers,"
        " whichever arrived first: ((w0 + w1) + w2) + ...",
        "Cluster/pure": "step never changes the state that it is given: it returns a new one, and the old one can"
        " still be used.",
    },
    laws=(
        Law(_pull_own, "Cluster/pull-own", 30), Law(_ahead, "Cluster/ahead", 20), Law(_once, "Cluster/once", 60),
        Law(lambda student, draw: _history(student, draw, storm=False), "Cluster/sync-round", 40),
        Law(_rank_order, "Cluster/rank-order", 150), Law(_pure, "Cluster/pure", 60),
        Law(lambda student, draw: _history(student, draw, storm=True), "Cluster/once", 120),
    ),
)
"""The lab."""
