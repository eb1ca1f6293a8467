"""Repeated blocks of a network: layers that follow each other, and segments that one value enters and one leaves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from .aligning import aligned
from .parts import OWN, Input, Item, Key, State
from .scopes import Column, Ref, Scope, key_refs, sanitised
from .segments import Segment, left, read_by, signature, stem_of

MakeScope = Callable[[str, list[Column], list[Ref], list[str], list[str]], Scope]
_MOST_ARGUMENTS = 8
_LEAST = 2
"""Instances of a block."""


# --- finding ------------------------------------------------------------------------------------------


def chains(items: list[Item], outputs: Sequence[Key]) -> list[list[Segment]]:
    """Layers with parameters that follow each other and have one name, such as convolution, norm and activation."""
    readers = read_by(items, outputs)
    found: list[Segment] = []
    index = 0
    while index < len(items):
        end = index + 1
        while items[index].heavy and end < len(items) and _follows(items, readers, index, end):
            end += 1
        segment = Segment(index, end, items)
        if sum(item.init is not None for item in segment.inner) >= 2 and _alone(items, segment):
            found.append(segment)
            index = end
        else:
            index += 1
    groups: dict[object, list[Segment]] = {}
    for segment in found:
        groups.setdefault(signature(segment, outputs), []).append(segment)
    return [group for group in groups.values() if len(group) >= 3]


def _follows(items: list[Item], readers: dict[Key, list[int]], begin: int, index: int) -> bool:
    before, item = items[index - 1], items[index]
    if item.fixed or before.fixed or item.block or before.block or len(item.inputs) != 1 or len(before.outputs) != 1:
        return False
    alone = item.inputs == before.outputs and readers[before.outputs[0]] == [index]
    return alone and not item.heavy and item.kind not in ("Pooling", "Flatten") and _mates(items[begin].name, item.name)


def _mates(first: str, other: str) -> bool:
    """Whether two names are of one block: ``conv1_conv2d`` and ``conv1_relu``, or ``conv2_1_dw`` and ``relu2_1_dw``."""
    owners = [name.rpartition("_")[0] for name in (first, other)]
    if other.startswith(first + "_") or owners[0] == owners[1] != "" or bool(re.search(r"\d", stem_of([first, other]))):
        return True
    ends = [re.sub(r"^[A-Za-z]+_?", "", name) for name in (first, other)]
    return ends[0] == ends[1] and bool(re.search(r"[A-Za-z_]", ends[0]))


def _alone(items: list[Item], segment: Segment) -> bool:
    """Whether no other layer has the block's name, so that the block is one that the network's author named."""
    stem = segment.stem() or segment.inner[0].name
    others = [item.name for item in items[:segment.begin] + items[segment.end:]]
    return not any(stem in (name, name.rpartition("_")[0]) for name in others)


def segments(items: list[Item], outputs: Sequence[Key]) -> list[list[Segment]]:
    """Groups of segments that are alike, but for a branch that some lack: residual units, inception blocks."""
    atoms = _joined(items, list(_atoms(items, outputs)), outputs)
    cores: dict[object, list[int]] = {}
    for number, (begin, end) in enumerate(atoms):
        inner = [item for item in items[begin:end] if not item.fixed]
        if len(inner) > 1 and any(item.init is not None for item in inner):
            cores.setdefault(signature(Segment(begin, end, items), outputs), []).append(number)
    taken = {number for group in cores.values() for number in group}
    return [_extended(items, atoms, group, taken) for group in cores.values()]


def _atoms(items: list[Item], outputs: Sequence[Key]) -> Iterator[tuple[int, int]]:
    """The network, cut wherever a single value goes on; values that are read everywhere do not count."""
    fixed = {place for item in items if item.fixed for place in item.outputs}
    last_readers = {
        place: where[-1] for place, where in read_by(items, outputs).items()
        if place not in fixed and where[-1] - where[0] <= max(0.35 * len(items), 12)
    }
    live: dict[Key, int] = {}
    begin = 0
    for index, item in enumerate(items):
        live |= {place: last_readers[place] for place in item.outputs if place in last_readers}
        live = {place: last for place, last in live.items() if last > index}
        if len(live) <= 1 and not item.fixed:
            yield begin, index + 1
            begin = index + 1
    if begin < len(items):
        yield begin, len(items)


def _joined(items: list[Item], atoms: list[tuple[int, int]], outputs: Sequence[Key]) -> list[tuple[int, int]]:
    """Neighbouring atoms of one name that differ: the attention and the network behind it of one layer."""
    found: list[list[tuple[int, int]]] = []
    for atom in atoms:
        stem = Segment(*atom, items).stem()
        same = found and re.search(r"\d", stem) and any(Segment(*one, items).stem() == stem for one in found[-1])
        if same or (found and _part_of(Segment(*found[-1][0], items).stem(), Segment(*atom, items))):
            found[-1].append(atom)
        else:
            found.append([atom])
    joined = []
    for group in found:
        segments_ = [Segment(*atom, items) for atom in group]
        large = [signature(segment, outputs) for segment in segments_ if segment.end - segment.begin > 1]
        if len(large) > 1 and len(set(large)) == len(large):
            joined.append((group[0][0], group[-1][1]))
        else:
            joined += group
    return joined


def _part_of(stem: str, segment: Segment) -> bool:
    """Whether a layer has the name of a block."""
    return bool(re.search(r"\d$", stem)) and all(
        item.name.startswith(stem + "_") for item in segment.inner if not item.fixed
    )


def _belongs(name: str, stem: str) -> bool:
    """Whether a layer has the name of a block."""
    return bool(stem) and (name.startswith(stem) or _mates(stem, name))


def _extended(items: list[Item], atoms: list[tuple[int, int]], group: list[int], taken: set[int]) -> list[Segment]:
    """The cores of a group with the layers before and behind that belong to them."""
    stems = [Segment(*atoms[number], items).stem() for number in group]
    before = after = 0

    def same(step: int) -> bool:
        numbers = [number + step for number in group]
        if any(not 0 <= number < len(atoms) or number in taken for number in numbers):
            return False
        inner = [[item for item in items[slice(*atoms[number])] if not item.fixed] for number in numbers]
        if any(len(each) != 1 for each in inner) or len({each[0].signature() for each in inner}) != 1:
            return False
        if inner[0][0].kind == "Flatten":
            return False
        if not any(stems):
            return len(group) > 1
        return all(map(_belongs, [each[0].name for each in inner], stems))

    while same(after + 1):
        after += 1
    while same(-before - 1):
        before += 1
    for number in group:
        taken.update(range(number - before, number + after + 1))
    return [Segment(atoms[number - before][0], atoms[number + after][1], items) for number in group]


# --- replacing ----------------------------------------------------------------------------------------


def replaced(
    items: list[Item], outputs: Sequence[Key], groups: list[list[Segment]], make: MakeScope, *, merge: bool
) -> list[Item]:
    """The items with blocks in the place of the segments of each group, for which ``make`` makes a class."""
    new: list[tuple[Segment, Item]] = []
    if merge:
        groups = _merged(groups, outputs)
    for group in groups:
        if len(group) < _LEAST or not _own_parameters(items, group):
            continue
        whole = max(group, key=lambda segment: len(segment.inner))
        rest = [segment for segment in group if segment is not whole]
        columns = aligned(whole, rest, outputs)
        if columns is None:
            continue
        order = [whole, *rest]
        external: list[Key] = []
        _, made = key_refs(whole.inner, external)
        ends = [made[place] for place in left(whole, outputs)]
        inputs = ["x", *(_input_name(items, place) for place in external[1:])]
        stem = whole.stem()
        names = [_local(item, stem) for item in whole.inner]
        if Scope("", columns, ends, inputs).count_arguments(names) > _MOST_ARGUMENTS:
            continue
        scope = make(_class_name(stem, columns), columns, ends, inputs, names)
        for number, segment in enumerate(order):
            new.append((segment, _instance(scope, number, segment, outputs)))
    new.sort(key=lambda pair: pair[0].begin)
    made_items: list[Item] = []
    place = 0
    for segment, item in new:
        made_items += [*items[place:segment.begin], item]
        place = segment.end
    return [*made_items, *items[place:]]


def _merged(groups: list[list[Segment]], outputs: Sequence[Key]) -> list[list[Segment]]:
    """Groups of which one lacks a branch of the other become one."""
    found: list[list[Segment]] = []
    for group in sorted(groups, key=lambda each: -len(each[0].inner)):
        for other in found:
            if aligned(other[0], [group[0]], outputs) is not None:
                other.extend(group)
                break
        else:
            found.append(list(group))
    return sorted(([*group] for group in found), key=lambda group: group[0].begin)


def _own_parameters(items: list[Item], group: list[Segment]) -> bool:
    """Whether no other layer has a parameter of a block."""
    count = Counter(
        held.parameter for item in items for held in {s.parameter: s for s in item.state.values()}.values()
    )
    states = [held for segment in group for item in segment.inner for held in item.state.values()]
    return all(count[held.parameter] == 1 for held in states)


def _instance(scope: Scope, number: int, segment: Segment, outputs: Sequence[Key]) -> Item:
    external: list[Key] = []
    key_refs(segment.inner, external)
    ends = left(segment, outputs)
    inner = [column.items[number] for column in scope.columns]
    state: dict[str, State] = {}
    for index, item in enumerate(inner):
        for name, held in (item.state if item is not None else {}).items():
            state[f"{scope.attribute(index)}.{name}".rstrip(".")] = held
    forward: list = [OWN, "("]
    for place in range(len(external)):
        forward += [", "] * (place > 0) + [Input(place)]
    names = [item.name for item in segment.inner if not item.fixed]
    return Item(
        name=segment.stem() or names[-1], inputs=external, outputs=ends, forward=[*forward, ")"],
        suffixes=[""] if len(ends) == 1 else [f"[{index}]" for index in range(len(ends))],
        init=scope.call(number), state=state, heavy=True, entries=[None] * len(ends),
        inner=inner, block=scope.name, kind=scope.name,  # type: ignore[arg-type]
    )


def _input_name(items: list[Item], place: Key) -> str:
    maker = next((item for item in items if place in item.outputs), None)
    return sanitised(re.sub(r"\d+$", "", maker.name)) if maker is not None else "other"


def _local(item: Item, stem: str) -> str:
    """A layer's name inside a block, without the name of the block."""
    name, last = item.name, stem.rpartition("_")[2]
    if stem and name == stem:
        return _WORDS.get(item.kind, item.kind).lower()
    if stem and name.startswith(stem):
        return name[len(stem):].strip("_.")
    if re.search(r"\d", last) and f"_{last}" in name:  # relu_in3a_1x1 of the block conv_in3a
        return name.replace(f"_{last}", "", 1)
    return re.sub(r"_?\d+$", "", name) or name  # plus9 of the first block


_WORDS = {
    "Convolution": "Conv", "BatchNorm": "Norm", "Activation": "Act", "LeakyReLU": "Act", "FullyConnected": "Dense",
    "clip": "Act",
}
_KINDS = frozenset(("conv", "bn", "relu", "fc", "batchnorm", "layer", "stage", "pool", "concat"))


def _class_name(stem: str, columns: list[Column]) -> str:
    if len(columns) <= 4:
        kinds = [_WORDS.get(column.item.kind) for column in columns]
        if all(kinds):
            return "".join(map(str, kinds))
    words = [word for word in re.findall(r"[A-Za-z]+", stem) if len(word) > 2 and word.lower() not in _KINDS]
    return (words[-1][0].upper() + words[-1][1:]) if words else "Layer" if stem.startswith("layer") else "Block"


__all__ = ["Segment", "chains", "read_by", "replaced", "segments", "stem_of"]
