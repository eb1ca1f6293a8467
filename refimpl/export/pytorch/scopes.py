"""A class of the module: its columns, which are the statements of one block or of several that are alike."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .parts import Input, Item, Key, Number, literal, unmarked, written
from .wrapping import wrapped

_TRIPLE = re.compile(r"\((\w+)\[0\], \1\[1\], \1\[2\]\)(?=[,)])")
"""A value of three parts that is put together again."""
_SIZES = frozenset(("channels", "filters", "features", "hidden", "inputs", "rows"))
RESERVED = frozenset((
    "F", "nn", "torch", "self", "np", "Image", "sys", "math", "load_file", *keyword.kwlist, *dir(__builtins__),
))
_MODULE_NAMES = frozenset((
    "add_module", "apply", "bfloat16", "buffers", "children", "compile", "cpu", "cuda", "double", "eval", "float",
    "forward", "half", "modules", "parameters", "train", "training", "to", "type", "zero_grad", "state_dict", "xpu",
    "ipu", "share_memory", "named_modules", "extra_repr", "load_state_dict",
))
"""What a class of ``torch.nn`` has already."""


class Ref(NamedTuple):
    """An input of the class (``column`` -1) or an output of a column."""

    column: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used


class Choice(NamedTuple):
    """The output of an optional column where it is there, else another value."""

    there: Ref
    absent: Ref


@dataclass
class Column:
    """What stands at one place of the class in each instance; None where an instance lacks it."""

    items: list[Item | None]
    inputs: list[Ref | Choice]

    @property
    def item(self) -> Item:
        """One that is there."""
        return next(item for item in self.items if item is not None)

    @property
    def optional(self) -> bool:
        """Whether an instance lacks it."""
        return any(item is None for item in self.items)


@dataclass
class Argument:
    """A difference between the instances."""

    name: str
    values: list[Any]
    """For each instance; ``...`` where it has no such layer."""
    size: bool = False
    """Whether it is a number of channels, which every call states."""

    @property
    def default(self) -> Any:
        """The most frequent value, where there is one among several."""
        known = [value for value in self.values if value is not ...]
        if isinstance(known[0], bool) and self.name.startswith("with_"):
            return False
        return max(known, key=lambda value: (known.count(value), -known.index(value)))

    @property
    def has_default(self) -> bool:
        """Whether a call may leave it out."""
        known = [value for value in self.values if value is not ...]
        if self.size:
            return False
        return isinstance(self.default, bool) or known.count(self.default) * 2 > len(self.values) or (
            len(known) < len(self.values)
        )


@dataclass
class Scope:
    """A class with its columns, arguments and texts."""

    name: str
    columns: list[Column]
    outputs: list[Ref]
    inputs: list[str]
    """Names of the arguments of ``forward``."""
    document: str = ""
    main: bool = False
    local: dict[int, str] = field(default_factory=dict)
    """The name of each column: its attribute, and the variable that holds its result."""
    arguments: list[Argument] = field(default_factory=list)
    shared: dict[int, int] = field(default_factory=dict)
    """Columns whose layer is that of an earlier column."""
    numbers: dict[int, list[str | None]] | None = None
    """For each column, which arguments stand for its numbers, once they are found."""
    ties: list[str] = field(default_factory=list)
    """Statements of the constructor that give two layers one parameter."""

    # --- names ------------------------------------------------------------------------------------

    def name_columns(self, names: Sequence[str], helpers: frozenset[str]) -> None:
        """Give each column a name; ``names`` are those of the network."""
        taken = {*self.inputs, *RESERVED, *helpers}
        numbers = [re.sub(r"(?<=[A-Za-z])(?<!\dx)\d+$", "", name) for name in names]
        if not self.main:
            names = [
                short if numbers.count(short) == 1 and item.item.init is None else name
                for name, short, item in zip(names, numbers, self.columns, strict=True)
            ]
        for index, name in enumerate(names):
            if index in self.shared:
                source = self.local[self.shared[index]]
                self.local[index] = free(sanitised(name), taken - {source})
                taken.add(self.local[index])
                continue
            self.local[index] = free(sanitised(name), taken)
            taken.add(self.local[index])

    def attribute(self, index: int) -> str:
        """The attribute of a column's layer."""
        name = self.local[self.shared.get(index, index)]
        return f"{name}_" if name in _MODULE_NAMES else name

    # --- arguments --------------------------------------------------------------------------------

    def count_arguments(self, names: Sequence[str]) -> int:
        """How many arguments the class would have."""
        trial = Scope(self.name, self.columns, self.outputs, self.inputs)
        trial.name_columns(names, frozenset())
        trial.find_arguments()
        return len(trial.arguments)

    def find_arguments(self) -> dict[int, list[str | None]]:
        """The arguments, and for each column which of them stand for its numbers."""
        found: dict[int, list[str | None]] = {}
        for index, column in enumerate(self.columns):
            lists = [None if item is None else item.numbers() for item in column.items]
            names: list[str | None] = []
            for place, number in enumerate(column.item.numbers()):
                values = [... if numbers is None else numbers[place].value for numbers in lists]
                known = [value for value in values if value is not ...]
                same = all(value == known[0] and type(value) is type(known[0]) for value in known)
                names.append(None if same else self._argument(index, number, values))
            found[index] = names
        for index, column in enumerate(self.columns):
            if column.optional:
                self._flag(index)
        self.arguments.sort(key=lambda argument: argument.has_default)
        return found

    def _argument(self, index: int, number: Number, values: list[Any]) -> str:
        for argument in self.arguments:
            pairs = list(zip(argument.values, values, strict=True))
            if all(a is ... or b is ... or (a == b and type(a) is type(b)) for a, b in pairs):
                argument.values = [b if a is ... else a for a, b in pairs]
                return argument.name
        taken = {*self.local.values(), *(argument.name for argument in self.arguments)}
        name = number.label if number.label not in taken else f"{self.local[index]}_{number.label}"
        self.arguments.append(Argument(free(name, {*taken, "self"}), values, number.label in _SIZES))
        return self.arguments[-1].name

    def _flag(self, index: int) -> str:
        values = [item is not None for item in self.columns[index].items]
        for argument in self.arguments:
            if argument.values == values and all(isinstance(value, bool) for value in argument.values):
                return argument.name
        self.arguments.append(Argument(f"with_{self.local[index]}", list(values)))
        return self.arguments[-1].name

    def call(self, instance: int) -> list[Any]:
        """The pieces of the call that makes one instance."""
        found: list[Any] = [f"{self.name}("]
        first = True
        for argument in self.arguments:
            value = argument.default if argument.values[instance] is ... else argument.values[instance]
            if argument.has_default:
                found.append(Number(argument.name, value, argument.default))
            else:
                found += ([] if first else [", "]) + [Number(argument.name, value)]
            first = False
        return [*found, ")"]

    # --- text -------------------------------------------------------------------------------------

    def text(self) -> str:
        """The class, with marks around the expression of each column."""
        names = self.find_arguments() if self.numbers is None else self.numbers
        lines = [f"class {self.name}(nn.Module):"]
        if self.document:
            lines += [f'    """{self.document}"""', ""]
        created = self._constructor(names)
        if created:
            given = "".join(
                f", {a.name}={literal(a.default)}" if a.has_default else f", {a.name}" for a in self.arguments
            )
            lines += [*wrapped(f"    def __init__(self{given}):"), "        super().__init__()", *created, ""]
        return "\n".join([*lines, f"    def forward(self, {', '.join(self.inputs)}):", *self._statements(names)])

    def _constructor(self, names: dict[int, list[str | None]]) -> list[str]:
        lines = [f"        self.{name} = {name}" for name in self._kept(names)]
        for index, column in enumerate(self.columns):
            item = column.item
            if item.init is None or index in self.shared:
                continue
            count = sum(isinstance(part, Number) for part in item.init)
            new = written(_common(column, init=True), [], "", names[index][:count])
            if item.kind == "buffer":
                lines.append(f'        self.register_buffer("{self.attribute(index)}", {new})')
                continue
            if column.optional:
                new = f"{new} if {self._flag(index)} else None"
            lines += wrapped(f"        self.{self.attribute(index)} = {new}")
        return lines + [f"        {tie}" for tie in self.ties]

    def _kept(self, names: dict[int, list[str | None]]) -> list[str]:
        """The arguments that ``forward`` reads."""
        found: list[str] = []
        for index, column in enumerate(self.columns):
            skipped = sum(isinstance(part, Number) for part in column.item.init or ())
            found += [name for name in names[index][skipped:] if name is not None and name not in found]
        return found

    def _statements(self, names: dict[int, list[str | None]]) -> list[str]:
        uses = self._uses()
        texts: dict[int, str] = {}  # what stands for a column's result
        lines: list[str] = []
        for index, column in enumerate(self.columns):
            item = column.item
            inputs = [self._input(ref, texts) for ref in column.inputs]
            skipped = sum(isinstance(part, Number) for part in item.init or ())
            own = f"self.{self.attribute(index)}"
            kept = [None if name is None else f"self.{name}" for name in names[index][skipped:]]
            expression = written(_common(column, init=False), inputs, own, kept)
            if item.fixed:
                texts[index] = expression
                continue
            expression = _TRIPLE.sub(r"\1", expression)
            expression = f"\x02{index}\x03{expression}\x04"
            readers = uses.get(index, [])
            last = index == len(self.columns) - 1
            if column.optional or (not last and self._stays_inside(index, readers, expression)):
                texts[index] = expression
                continue
            if last and self.outputs == [Ref(index, 0)]:
                lines += wrapped(f"        return {expression}{item.suffixes[0]}")
                return lines
            if not readers:
                continue
            lines += wrapped(f"        {self.local[index]} = {expression}")
            texts[index] = self.local[index]
        values = ", ".join(self._input(ref, texts) for ref in self.outputs)
        return [*lines, *wrapped(f"        return {values}")]

    def _uses(self) -> dict[int, list[tuple[int, int]]]:
        """Column -> (the column that reads it, as which input), -1 for an output of the class."""
        found: dict[int, list[tuple[int, int]]] = {}
        for index, column in enumerate(self.columns):
            places = [part.number for part in _common(column, init=False) if isinstance(part, Input)]
            for number in places:
                given = column.inputs[number]
                refs = [given] if isinstance(given, Ref) else [given.there, given.absent]
                for ref in refs:
                    found.setdefault(ref.column, []).append((index, number))
        for ref in self.outputs:
            found.setdefault(ref.column, []).append((-1, 0))
        return found

    def _stays_inside(self, index: int, readers: list[tuple[int, int]], expression: str) -> bool:
        """Whether the expression is written where it is read."""
        item = self.columns[index].item
        if len(readers) != 1 or readers[0][0] < 0 or len(item.suffixes) > 1:
            return False
        reader = self.columns[readers[0][0]]
        if reader.optional or (self.columns[index].item.init is None and not item.inputs):
            return True
        if not item.light and self._heavy_behind(readers[0][0]):
            return False
        size = len(unmarked(expression))
        if len(reader.inputs) > 1:
            return size <= 36 and len(reader.inputs) <= 3
        return size <= 60

    def _heavy_behind(self, index: int) -> bool:
        """Whether a column, or the one that reads it where it only moves elements, has many weights."""
        uses = self._uses()
        while self.columns[index].item.light and len(uses.get(index, [])) == 1 and uses[index][0][0] >= 0:
            index = uses[index][0][0]
        return self.columns[index].item.heavy

    def _input(self, ref: Ref | Choice, texts: dict[int, str]) -> str:
        if isinstance(ref, Choice):
            attribute = self.attribute(self._first_optional(ref.there.column))
            there, absent = self._input(ref.there, texts), self._input(ref.absent, texts)
            return f"{there} if self.{attribute} is not None else {absent}"
        if ref.column < 0:
            return self.inputs[ref.index]
        suffix = self.columns[ref.column].item.suffixes[ref.index]
        return texts[ref.column] + suffix

    def _first_optional(self, index: int) -> int:
        """An optional column that has a layer: the column, or one that it reads."""
        while self.columns[index].item.init is None:
            index = next(ref.column for ref in self.columns[index].inputs if isinstance(ref, Ref))
        return index


def _common(column: Column, *, init: bool) -> list[Any]:
    """The pieces of a column, with the number of an instance that differs from the default where one does."""
    texts = [item.init if init else item.forward for item in column.items if item is not None]
    found: list[Any] = []
    for places in zip(*(text or [] for text in texts), strict=True):
        if isinstance(places[0], Number) and places[0].default is not ...:
            other = next((place for place in places if place.value != place.default), places[0])
            found.append(other)
        else:
            found.append(places[0])
    return found


def sanitised(name: str) -> str:
    """An identifier."""
    found = re.sub(r"\W", "_", name).strip("_") or "layer"
    return f"layer_{found}" if found[0].isdigit() else found


def free(name: str, taken: set[str] | frozenset[str]) -> str:
    """The name with as many ``_`` behind it as make it one that is not taken."""
    while name in taken:
        name += "_"
    return name


def key_refs(items: Sequence[Item], external: list[Key]) -> tuple[list[list[Ref]], dict[Key, Ref]]:
    """The inputs of each item as references inside the list; values from outside are appended to ``external``."""
    made: dict[Key, Ref] = {}
    found = []
    for index, item in enumerate(items):
        refs = []
        for place in item.inputs:
            if place not in made:
                if place not in external:
                    external.append(place)
                refs.append(Ref(-1, external.index(place)))
            else:
                refs.append(made[place])
        found.append(refs)
        for number, place in enumerate(item.outputs):
            made[place] = Ref(index, number)
    return found, made


__all__ = ["Argument", "Choice", "Column", "Ref", "Scope", "free", "key_refs", "sanitised"]
