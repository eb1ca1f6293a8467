"""Blocks side by side: which layer of one stands where in the other, and where one lacks a branch."""

from __future__ import annotations

from collections.abc import Sequence

from .parts import Item, Key
from .scopes import Choice, Column, Ref, key_refs
from .segments import Segment, left


def aligned(whole: Segment, others: Sequence[Segment], outputs: Sequence[Key]) -> list[Column] | None:
    """Columns of segments, of which ``others`` may lack one branch of ``whole``; None where they differ more."""
    external: list[Key] = []
    refs, made = key_refs(whole.inner, external)
    columns = [
        Column([item], list(each))
        for item, each in zip(whole.inner, refs, strict=True)
    ]
    ends = [made[place] for place in left(whole, outputs)]
    for other in others:
        found = _matched(columns, ends, other, outputs)
        if found is None:
            return None
        places, choices = found
        for index, column in enumerate(columns):
            column.items.append(places.get(index))
            for slot, ref in enumerate(column.inputs):
                choice = choices.get((index, slot))
                if choice is None:
                    continue
                if isinstance(ref, Choice) and ref != choice:
                    return None
                column.inputs[slot] = choice
    return columns if _optional_are_single(columns, ends) else None


def _matched(
    columns: list[Column], ends: list[Ref], other: Segment, outputs: Sequence[Key]
) -> tuple[dict[int, Item], dict[tuple[int, int], Choice]] | None:
    """Which item of another segment stands at each column, and where the other one reads another value."""
    external: list[Key] = []
    refs, made = key_refs(other.inner, external)
    theirs_left = [made[place] for place in left(other, outputs)]
    if len(theirs_left) != len(ends) or len(external) != _externals(columns):
        return None
    pairs: dict[int, int] = {}
    waiting = list(zip(ends, theirs_left, strict=True))
    delayed: list[tuple[tuple[int, int], Ref, Ref]] = []
    while waiting:
        mine, theirs = waiting.pop()
        if mine.index != theirs.index or not _compatible(columns, other, mine, theirs):
            return None
        if pairs.get(mine.column, theirs.column) != theirs.column:
            return None
        if mine.column < 0 or mine.column in pairs:
            continue
        pairs[mine.column] = theirs.column
        for slot, (a, b) in enumerate(zip(columns[mine.column].inputs, refs[theirs.column], strict=True)):
            there = _there(a)
            if _compatible(columns, other, there, b):
                waiting.append((there, b))
            else:
                delayed.append(((mine.column, slot), there, b))
    choices = _choices(pairs, delayed)
    if choices is None or set(pairs.values()) != set(range(len(other.inner))):
        return None
    return {mine: other.inner[theirs] for mine, theirs in pairs.items()}, choices


def _there(ref: Ref | Choice) -> Ref:
    return ref.there if isinstance(ref, Choice) else ref


def _choices(
    pairs: dict[int, int], delayed: list[tuple[tuple[int, int], Ref, Ref]]
) -> dict[tuple[int, int], Choice] | None:
    """The inputs that are other values in the other segment; None where these stand nowhere."""
    back = {theirs: mine for mine, theirs in pairs.items()}
    choices: dict[tuple[int, int], Choice] = {}
    for place, mine, theirs in delayed:
        if mine.column < 0 or (theirs.column >= 0 and theirs.column not in back):
            return None
        absent = theirs if theirs.column < 0 else Ref(back[theirs.column], theirs.index)
        choices[place] = Choice(mine, absent)
    return choices


def _externals(columns: list[Column]) -> int:
    refs = [ref for column in columns for ref in column.inputs]
    plain = [ref.absent if isinstance(ref, Choice) else ref for ref in refs]
    plain += [ref.there for ref in refs if isinstance(ref, Choice)]
    return len({ref.index for ref in plain if ref.column < 0})


def _compatible(columns: list[Column], other: Segment, mine: Ref, theirs: Ref) -> bool:
    if mine.column < 0 or theirs.column < 0:
        return mine.column < 0 and theirs.column < 0
    return columns[mine.column].item.signature() == other.inner[theirs.column].signature()


def _optional_are_single(columns: list[Column], ends: list[Ref]) -> bool:
    """Whether each optional layer is read once, by an optional layer or in a choice, and one of them has a module."""
    left_behind = {end.column for end in ends}
    for index, column in enumerate(columns):
        if column.optional and (index in left_behind or not _is_read_once(columns, index)):
            return False
    choices = [ref for column in columns for ref in column.inputs if isinstance(ref, Choice)]
    return all(_has_module(columns, choice.there) for choice in choices)


def _is_read_once(columns: list[Column], index: int) -> bool:
    """Whether one layer reads a column: an optional one of the same blocks, or one that has a choice."""
    column = columns[index]
    readers = [
        (reader, ref) for reader in columns for ref in reader.inputs
        if _there(ref).column == index
    ]
    if len(readers) != 1 or len(column.item.suffixes) > 1:
        return False
    reader, ref = readers[0]
    return isinstance(ref, Choice) or (
        reader.optional and reader.items.count(None) == column.items.count(None)
    )


def _has_module(columns: list[Column], ref: Ref | Choice) -> bool:
    while isinstance(ref, Ref) and ref.column >= 0 and columns[ref.column].optional:
        if columns[ref.column].item.init is not None:
            return True
        ref = columns[ref.column].inputs[0] if columns[ref.column].inputs else Ref(-1, 0)
    return False


__all__ = ["aligned"]
