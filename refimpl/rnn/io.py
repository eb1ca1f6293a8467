"""Sentences of different lengths: numbers for words, and batches of sentences of like length."""

from __future__ import annotations

import random
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np

from ..base import decides, require
from ..io import DataBatch, DataDesc, DataIter
from ..ndarray import NDArray, array
from ..ndarray.undo import delivered


@decides("encode_sentences/numbers")
def encode_sentences(
    sentences: Iterable[Iterable[Hashable]], vocab: dict[Any, int] | None = None, invalid_label: int = -1,
    invalid_key: Hashable = "\n", start_label: int = 0, unknown_token: Hashable | None = None,
) -> tuple[list[list[int]], dict[Any, int]]:
    """Number the words of sentences: (a list of numbers for each sentence, the numbers by word).

    Args:
        sentences: each a list of words, or a string for its letters.
        vocab: numbers that are known; None begins with ``invalid_key`` alone and numbers every word.
        invalid_label: the number of ``invalid_key``, which no other word gets.
        invalid_key: what marks the end of a sentence.
        start_label: the smallest new number.
        unknown_token: what stands for the words that ``vocab`` does not have. It is added to ``vocab``,
            with a number that is free, where it is new.

    Raises:
        AssertionError: a word is not in ``vocab`` and there is no ``unknown_token``.
    """
    grows = vocab is None
    known: dict[Any, int] = {invalid_key: invalid_label} if vocab is None else vocab
    used = {invalid_label, *known.values()}
    free = (number for number in count(start_label) if number not in used)
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            key = word
            if word not in known and not grows:
                require(
                    "encode_sentences/unknown", unknown_token is not None,
                    f"{word} is not in vocab: give unknown_token, or no vocab", AssertionError,
                )
                key = unknown_token
            if key not in known:
                known[key] = next(free)
            numbers.append(known[key])
        encoded.append(numbers)
    return encoded, known


class BucketSentenceIter(DataIter):
    """Batches of sentences of like length, for language models: the label is the sentence one word on.

    Each sentence lies in the smallest bucket that holds it, filled up with ``invalid_label``. Sentences
    longer than the largest bucket are left out, with a warning, and in each bucket those that fill no
    batch are left out of the epoch. Batches come in the order of Python's ``random``, sentences in a
    bucket in that of NumPy's global generator, shuffled anew at each reset.

    Args:
        sentences: lists of numbers, as :func:`encode_sentences` makes them.
        batch_size: sentences in a batch.
        buckets: lengths; None takes each length of which there are enough sentences for a batch.
        invalid_label: what fills up data and labels.
        data_name, label_name: names of the two arrays.
        dtype: their type.
        layout: ``"NT"`` for (batch, times), ``"TN"`` for (times, batch).

    Raises:
        ValueError: no bucket, or one below 1; a batch size below 1; a layout without a leading N or TN.
    """

    @decides("BucketSentenceIter/discard")
    def __init__(
        self, sentences: Sequence[Sequence[int]], batch_size: int, buckets: Sequence[int] | None = None,
        invalid_label: int = -1, data_name: str = "data", label_name: str = "softmax_label",
        dtype: Any = "float32", layout: str = "NT",
    ) -> None:
        super().__init__()
        require(
            "BucketSentenceIter/batch-size", batch_size >= 1,
            f"batch_size must be 1 or more sentences, got {batch_size}", ValueError,
        )
        self.major_axis = layout.find("N")
        require(
            "BucketSentenceIter/layout", self.major_axis in {0, 1},
            f"layout is NT (rows are sentences) or TN (rows are times), not {layout}", ValueError,
        )
        self.batch_size = batch_size
        self.data_name, self.label_name = data_name, label_name
        self.invalid_label = invalid_label
        self.dtype = dtype
        self.layout = layout
        self.buckets, self.data = self._fill(sentences, buckets)
        self.default_bucket_key = max(self.buckets)
        self.provide_data = [self._describe(data_name, self.default_bucket_key)]
        self.provide_label = [self._describe(label_name, self.default_bucket_key)]
        self.idx = [
            (bucket, first)
            for bucket, rows in enumerate(self.data)
            for first in range(0, len(rows) - batch_size + 1, batch_size)
        ]
        self.curr_idx = 0
        self.nddata: list[NDArray] = []
        self.ndlabel: list[NDArray] = []
        self.reset()

    @decides("BucketSentenceIter/label")
    def _fill(
        self, sentences: Sequence[Sequence[int]], buckets: Sequence[int] | None
    ) -> tuple[list[int], list[np.ndarray]]:
        """The buckets that hold anything, and the sentences in each."""
        if not buckets:
            times = Counter(len(sentence) for sentence in sentences)
            buckets = [length for length in times if length and times[length] >= self.batch_size]
        lengths = sorted(set(buckets))
        require(
            "BucketSentenceIter/buckets", lengths and lengths[0] >= 1,
            f"buckets must be lengths of 1 or more, got {lengths}; without buckets, some length needs"
            f" {self.batch_size} sentences or more", ValueError,
        )
        rows: list[list[np.ndarray]] = [[] for _ in lengths]
        for sentence in sentences:
            bucket = bisect_left(lengths, len(sentence))
            if bucket < len(lengths):
                row = np.full(lengths[bucket], self.invalid_label, dtype=self.dtype)
                row[: len(sentence)] = sentence
                rows[bucket].append(row)
        discarded = len(sentences) - sum(map(len, rows))
        if discarded:
            warnings.warn(
                f"{discarded} sentences are left out: they are longer than the largest bucket, {lengths[-1]}",
                stacklevel=3,
            )
        full = [(length, np.array(found)) for length, found in zip(lengths, rows, strict=True) if found]
        require(
            "BucketSentenceIter/buckets", full, f"no sentence fits into the buckets {lengths}", ValueError
        )
        return [length for length, _ in full], [found for _, found in full]

    def _describe(self, name: str, length: int) -> DataDesc:
        shape = (self.batch_size, length) if self.major_axis == 0 else (length, self.batch_size)
        return DataDesc(name, shape, layout=self.layout)

    @decides("BucketSentenceIter/order")
    def reset(self) -> None:
        """Begin the next epoch in a new order; all at once, or not at all."""
        order, shuffled = list(self.idx), [rows.copy() for rows in self.data]
        random.shuffle(order)
        arrays: tuple[list[NDArray], list[NDArray]] = ([], [])
        for rows in shuffled:
            np.random.shuffle(rows)  # noqa: NPY002  # the global generator is the one that scripts seed
            labels = np.full_like(rows, self.invalid_label)
            labels[:, :-1] = rows[:, 1:]
            arrays[0].append(array(rows, dtype=self.dtype))
            arrays[1].append(array(labels, dtype=self.dtype))
        vars(self).update(curr_idx=0, idx=order, data=shuffled, nddata=arrays[0], ndlabel=arrays[1])

    def next(self) -> DataBatch:
        """Return the next batch, with the length of its bucket as ``bucket_key``.

        Raises:
            StopIteration: there is none left in this epoch.
        """
        return delivered(self, self._step)  # type: ignore[no-any-return]  # what the step returns

    def _step(self) -> DataBatch:
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, first = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (
            rows[bucket][first : first + self.batch_size] for rows in (self.nddata, self.ndlabel)
        )
        if self.major_axis == 1:
            data, label = data.T, label.T
        key = self.buckets[bucket]
        return DataBatch(
            [data], [label], pad=0, bucket_key=key, provide_data=[self._describe(self.data_name, key)],
            provide_label=[self._describe(self.label_name, key)],
        )


__all__ = ["BucketSentenceIter", "DataBatch", "DataDesc", "DataIter", "encode_sentences"]
