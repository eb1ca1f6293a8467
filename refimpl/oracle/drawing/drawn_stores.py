"""Programs of level 6: a store of one process, its keys, pushes and pulls."""

from __future__ import annotations

from typing import Any

from ..programs.program import VERSION
from .choices import NOTHING, Capabilities, Exclusions, Program
from .drawn_optimizers import schedule
from .draws import Draw

Step = dict[str, Any]

ROWS = 5
WIDTH = 2
MOST_ARRAYS = 6
FEATURES = frozenset({
    "store/more arrays than before", "store/updater after a push", "store/many arrays in a call", "store/rows",
    "store/compression", "store/files", "store/refusals",
})
"""What ``exclude.operators`` may name: programs are then drawn without it."""
CAREFUL = frozenset({
    "store/more arrays than before", "store/updater after a push", "store/many arrays in a call",
})
"""What MXNet 1.9.1 does not survive, or gets wrong: its process ends, a weight is lost, sums have another order."""


class Life:
    """The steps of a program while they are drawn."""

    def __init__(self, draw: Draw, capabilities: Capabilities, exclude: Exclusions) -> None:
        self.draw, self.exclude = draw, exclude
        self.kind = draw.choice(("local", "device", "another"))
        self.corners = capabilities.corners
        self.keys: list[Any] = list(draw.choice(([7, -1, 3, 0], ["b", "a", "", "c"])))
        self.sparse = draw.one_in(3) and self.may("store/rows")
        self.learns = draw.integer(0, 9) < 7
        styles = [style for style in (("dyadic",) if self.learns else ("wide", "normal", "dyadic"))
                  if style in capabilities.styles]
        self.style = draw.choice(styles or capabilities.styles)
        self.dtype = draw.choice(("float64", "float16")) if self.corners and draw.one_in(8) else "float32"
        self.saved = 0
        self.optimizes = False
        self.pushed = False
        self.steps: list[Step] = [{"do": "create", "kind": self.kind}]

    def may(self, feature: str) -> bool:
        """Whether a feature may be used."""
        return feature not in self.exclude.operators

    def add(self, do: str, **fields: Any) -> None:
        """One more step."""
        self.steps.append({"do": do, **fields})

    def value(self) -> Step:
        """An array to push."""
        shape = [ROWS, WIDTH] if self.sparse else [WIDTH]
        return {"shape": shape, "dtype": self.dtype, "style": self.style, "seed": self.draw.integer(0, 9999)}

    def some_rows(self) -> list[int]:
        """Rows that an array stores."""
        return [row for row in range(ROWS) if self.draw.boolean()] or [self.draw.integer(0, ROWS - 1)]

    # --- calls ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Initial arrays, and the steps that must come before pushes."""
        draw = self.draw
        if self.kind == "device" and not self.sparse and draw.boolean() and self.may("store/compression"):
            self.add("compress", threshold=draw.choice((0.5, 3.0, 16.0)))
        for part in (self.keys[:2], self.keys[2:]):
            rows = {"rows": [list(range(ROWS))] * len(part)} if self.sparse else {}
            self.add("init", keys=part, values=[self.value() for _ in part], **rows)
        if self.learns:
            self.updater()
        if not self.may("store/more arrays than before"):
            for key in self.keys:  # buffers are then as many as there will ever be arrays
                self.push("push", [key], [MOST_ARRAYS])

    def updater(self) -> None:
        """Pushes add up from now on."""
        self.add("updater", **({"kept": True} if self.sparse else {}))
        self.optimizes = False

    def push(self, do: str, keys: list[Any], sizes: list[int]) -> None:
        """Push so many arrays to each key."""
        fields: Step = {"keys": keys, "values": [[self.value() for _ in range(size)] for size in sizes]}
        if self.sparse:
            fields["rows"] = [[self.some_rows() for _ in range(size)] for size in sizes]
        if len(keys) == 1 and self.draw.boolean():
            fields = {name: each[0] for name, each in fields.items()}
        self.add(do, **fields)
        self.pushed = True

    def pushes(self, do: str) -> None:
        """Push to one key or several, which may come twice."""
        draw = self.draw
        named = [draw.choice(self.keys) for _ in range(1 if do == "pushpull" else draw.integer(1, 4))]
        if len(named) > 1 and draw.boolean():
            named = list(dict.fromkeys(named))
        most = 16 if not self.may("store/many arrays in a call") else 64
        sizes = [draw.integer(1, max(1, min(MOST_ARRAYS // named.count(key), most // len(named)))) for key in named]
        self.push(do, named, sizes)

    def optimizer(self) -> None:
        """Pushes are gradients from now on."""
        draw = self.draw
        rate, momentum = draw.choice((0.5, 1.0, -0.25)), draw.choice((0.0, 0.5, 1.0))
        fields: Step = {"optimizer": "sgd", "parameters": {"momentum": momentum, "wd": 0.0}}
        if draw.one_in(4):
            fields["schedule"] = schedule(draw, abs(rate))
        else:
            fields["parameters"]["learning_rate"] = rate
        self.add("optimizer", **fields)
        self.optimizes, self.saved = True, 0  # states of another momentum have another form

    def refused(self) -> None:
        """A call that must be refused, and change nothing."""
        draw = self.draw
        stranger: Any = 99 if isinstance(self.keys[0], int) else "z"
        other: Any = "z" if isinstance(self.keys[0], int) else 99
        more = ("other shape", "some unknown", "rows beyond") if self.corners else ()
        kind = draw.choice(("again", "unknown", "other kind", "uneven", *more))
        one: Step = {"shape": [WIDTH], "dtype": self.dtype, "style": "dyadic", "seed": 0}
        if kind == "again":
            self.add("init", keys=draw.choice(self.keys), values=[one], attempt=True)
        elif kind == "unknown":
            self.add("pull", keys=stranger, shapes=[[WIDTH]], attempt=True)
        elif kind == "other kind":
            self.add("push", keys=other, values=[one], attempt=True)
        elif kind == "other shape":
            wider = {**self.value(), "shape": [*self.value()["shape"][:-1], WIDTH + 1]}
            count = draw.integer(1, 2)
            rows = {"rows": [[0]] * count} if self.sparse else {}
            self.add("push", keys=draw.choice(self.keys), values=[wider] * count, attempt=True, **rows)
        elif kind == "some unknown" and not self.sparse:
            self.add("push", keys=[self.keys[0], stranger], values=[[one], [one]], attempt=True)
        elif kind == "rows beyond" and self.sparse:
            self.add("row_sparse_pull", key=self.keys[0], ids=[[ROWS]], shape=[ROWS, WIDTH], attempt=True)
        elif kind == "uneven":
            self.add("push", keys=self.keys, values=[[one]], attempt=True)

    def pull(self) -> None:
        """Read the stored values."""
        shape = [ROWS, WIDTH] if self.sparse else [WIDTH]
        if self.draw.one_in(4):
            self.add("pull", keys=self.draw.choice(self.keys), shapes=[shape], outs=self.draw.integer(1, 3))
        else:
            self.add("pull", keys=self.keys, shapes=[shape] * len(self.keys))

    def rows(self) -> None:
        """Pull some rows, in any order, some twice."""
        draw = self.draw
        ids = [
            [draw.integer(0, ROWS - 1) for _ in range(draw.integer(1, 6))] for _ in range(draw.integer(1, 3))
        ]
        self.add("row_sparse_pull", key=draw.choice(self.keys), ids=ids, shape=[ROWS, WIDTH])

    def act(self) -> None:
        """One call."""
        name = self.kind_of_call()
        if name in ("push", "pushpull"):
            self.pushes(name)
        elif name == "updater" and self.takes_updaters():
            self.updater()
        elif name == "optimizer" and self.takes_updaters() and (self.learns or not self.sparse):  # wants every row
            self.optimizer()
        elif name == "load" and self.optimizes and self.saved:
            self.add("load", file=self.draw.integer(0, self.saved - 1))
        elif name in ("save", "load") and self.optimizes and self.may("store/files"):
            self.add("save", file=self.saved, whole=self.draw.boolean())
            self.saved += 1
        elif name == "refused" and self.may("store/refusals"):
            self.refused()
        elif name == "rows" and self.sparse:
            self.rows()
        elif name == "barrier":
            self.add("barrier")

    def takes_updaters(self) -> bool:
        """Whether an updater may be set: some stores take the first one only before the first push."""
        return self.learns or not self.pushed or self.may("store/updater after a push")

    def kind_of_call(self) -> str:
        """The calls of the store; a store with an optimizer often saves and loads its states."""
        if self.optimizes and self.draw.boolean():
            return self.draw.choice(("push", "save", "load"))
        return self.draw.choice((
            "push", "push", "push", "push", "pushpull", "updater", "optimizer", "refused", "rows", "barrier",
        ))


def store_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 6: pushes of any number of arrays to int or text keys, with updaters, optimizers, compression and files."""
    life = Life(draw, capabilities, exclude)
    life.begin()
    for _ in range(draw.integer(2, 14)):
        life.act()
        life.pull()
    return {"version": VERSION, "level": 6, "steps": life.steps}
