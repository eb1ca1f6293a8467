"""Sentences in buckets: the batches of MXNet 1.9.1 for the same seeds; numbers for words."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

from refimpl.rnn import BucketSentenceIter, encode_sentences

SENTENCES = [
    [1, 2, 3], [4, 5], [6, 7, 8, 9], [1], [2, 3], [9, 8, 7], [5, 5, 5], [3, 3], [2, 2, 2, 2],
    [1, 1, 1, 1, 1, 1], [7, 7], [6, 6, 6],
]


def make(sentences=SENTENCES, batch_size=2, **kwargs) -> BucketSentenceIter:
    random.seed(5)
    np.random.seed(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BucketSentenceIter(sentences, batch_size, **kwargs)


def epoch(iterator: BucketSentenceIter) -> list:
    found = [
        (batch.bucket_key, batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist())
        for batch in iterator
    ]
    iterator.reset()
    return found


# MXNet 1.9.1: random.seed(5); numpy.random.seed(6); BucketSentenceIter(SENTENCES, 2, buckets=[5, 3]), one epoch
# and, after reset, the data of another
@pytest.mark.clause("BucketSentenceIter/order")
@pytest.mark.clause("BucketSentenceIter/label")
def test_batches_of_two_epochs_are_those_of_mxnet() -> None:
    iterator = make(buckets=[5, 3])
    assert epoch(iterator) == [
        (3, [[6, 6, 6], [4, 5, -1]], [[6, 6, -1], [5, -1, -1]]),
        (3, [[7, 7, -1], [1, 2, 3]], [[7, -1, -1], [2, 3, -1]]),
        (3, [[1, -1, -1], [9, 8, 7]], [[-1, -1, -1], [8, 7, -1]]),
        (3, [[3, 3, -1], [5, 5, 5]], [[3, -1, -1], [5, 5, -1]]),
        (5, [[6, 7, 8, 9, -1], [2, 2, 2, 2, -1]], [[7, 8, 9, -1, -1], [2, 2, 2, -1, -1]]),
    ]
    assert [batch[:2] for batch in epoch(iterator)] == [
        (3, [[1, -1, -1], [3, 3, -1]]), (3, [[2, 3, -1], [9, 8, 7]]), (3, [[7, 7, -1], [6, 6, 6]]),
        (3, [[5, 5, 5], [1, 2, 3]]), (5, [[2, 2, 2, 2, -1], [6, 7, 8, 9, -1]]),
    ]


@pytest.mark.clause("BucketSentenceIter/layout")
def test_times_first() -> None:
    # MXNet 1.9.1: ... buckets=[2, 4], layout="TN", dtype="int32", data_name="d", label_name="l"
    iterator = make(buckets=[2, 4], layout="TN", dtype="int32", data_name="d", label_name="l")
    assert [tuple(desc) for desc in iterator.provide_data] == [("d", (4, 2))]
    assert [tuple(desc) for desc in iterator.provide_label] == [("l", (4, 2))]
    assert [desc.layout for desc in iterator.provide_data + iterator.provide_label] == ["TN", "TN"]
    batch = iterator.next()
    assert (batch.bucket_key, batch.pad, batch.index) == (2, 0, None)
    assert [tuple(desc) for desc in batch.provide_data + batch.provide_label] == [("d", (2, 2)), ("l", (2, 2))]
    assert batch.data[0].dtype == np.int32
    assert batch.data[0].asnumpy().tolist() == [[3, 7], [3, 7]]
    assert batch.label[0].asnumpy().tolist() == [[3, 7], [-1, -1]]
    iterator.reset()
    assert epoch(iterator)[0][1] == [[6, 5], [6, 5], [6, 5], [-1, -1]]


@pytest.mark.clause("BucketSentenceIter/buckets")
def test_buckets_of_lengths_that_fill_a_batch() -> None:
    # MXNet 1.9.1, without buckets: [2, 3, 4], default_bucket_key 4
    iterator = make()
    assert (iterator.buckets, iterator.default_bucket_key, iterator.batch_size) == ([2, 3, 4], 4, 2)
    assert [tuple(desc) for desc in iterator.provide_data] == [("data", (2, 4))]
    assert [tuple(desc) for desc in iterator.provide_label] == [("softmax_label", (2, 4))]
    assert epoch(iterator)[0] == (2, [[3, 3], [7, 7]], [[3, -1], [7, -1]])
    assert make(batch_size=1).buckets == [1, 2, 3, 4, 6]
    assert make([[], [], [1], [2]]).buckets == [1]


@pytest.mark.clause("BucketSentenceIter/buckets")
def test_empty_buckets_are_dropped_and_the_callers_list_stays() -> None:
    # MXNet 1.9.1 keeps [2] of these; its sort changes the caller's list
    given = [4, 2, 2, 9]
    iterator = make([[1, 2], [3, 4]], buckets=given)
    assert (iterator.buckets, iterator.default_bucket_key) == ([2], 2)
    assert given == [4, 2, 2, 9]
    assert make(buckets=(4, 2)).buckets == [2, 4]


@pytest.mark.clause("BucketSentenceIter/discard")
def test_sentences_that_are_too_long() -> None:
    with pytest.warns(UserWarning, match="1 sentences .* longer than the largest bucket, 4") as caught:
        iterator = BucketSentenceIter(SENTENCES, 2, buckets=[4])
    assert caught[0].filename == __file__
    assert len(list(iterator)) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BucketSentenceIter(SENTENCES, 2, buckets=[6])


@pytest.mark.clause("BucketSentenceIter/label")
def test_what_fills_up() -> None:
    batches = epoch(make([[5], [6, 7]], buckets=[3], invalid_label=0))
    assert sorted(zip(*batches[0][1:], strict=True)) == [
        ([5, 0, 0], [0, 0, 0]), ([6, 7, 0], [7, 0, 0]),
    ]


@pytest.mark.clause("BucketSentenceIter/order")
def test_every_sentence_once_in_an_epoch() -> None:
    iterator = make(buckets=[6], batch_size=3)
    for _ in range(3):
        rows = [tuple(w for w in row if w != -1) for _, data, _ in epoch(iterator) for row in data]
        assert sorted(rows) == sorted(map(tuple, SENTENCES))


@pytest.mark.clause("BucketSentenceIter/order")
def test_an_epoch_ends_and_batches_may_be_written_to() -> None:
    iterator = make(buckets=[4])
    for batch in iterator:
        batch.data[0][:] = 99
    with pytest.raises(StopIteration):
        iterator.next()
    iterator.reset()
    assert max(max(max(row) for row in data) for _, data, _ in epoch(iterator)) == 9


@pytest.mark.parametrize(("arguments", "clause", "words"), [
    ({"layout": "XY"}, "BucketSentenceIter/layout", "XY"),
    ({"layout": "CTN"}, "BucketSentenceIter/layout", "CTN"),
    ({"batch_size": 0}, "BucketSentenceIter/batch-size", "got 0"),
    ({"batch_size": 100}, "BucketSentenceIter/buckets", "100"),
    ({"sentences": []}, "BucketSentenceIter/buckets", "some length"),
    ({"buckets": [0, 4]}, "BucketSentenceIter/buckets", "1 or more"),
    ({"sentences": [[1, 2, 3]], "buckets": [2]}, "BucketSentenceIter/buckets", "no sentence fits"),
])
@pytest.mark.clause("BucketSentenceIter/buckets")
@pytest.mark.clause("BucketSentenceIter/batch-size")
@pytest.mark.clause("BucketSentenceIter/layout")
def test_refusals(arguments, clause, words) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        make(**arguments)
    assert caught.value.clause == clause


# --- words ------------------------------------------------------------------------------------------------


WORDS = [["a", "b", "\n"], ["b", "c"], []]


# MXNet 1.9.1 returns these
@pytest.mark.clause("encode_sentences/numbers")
@pytest.mark.parametrize(("arguments", "numbers", "vocabulary"), [
    ({}, [[0, 1, -1], [1, 2], []], {"\n": -1, "a": 0, "b": 1, "c": 2}),
    ({"invalid_label": 0}, [[1, 2, 0], [2, 3], []], {"\n": 0, "a": 1, "b": 2, "c": 3}),
    (
        {"invalid_label": 1, "invalid_key": "x"}, [[0, 2, 3], [2, 4], []],
        {"x": 1, "a": 0, "b": 2, "\n": 3, "c": 4},
    ),
    ({"start_label": 7}, [[7, 8, -1], [8, 9], []], {"\n": -1, "a": 7, "b": 8, "c": 9}),
    (
        {"vocab": {"a": 3, "b": 4, "c": 9, "\n": 0}}, [[3, 4, 0], [4, 9], []],
        {"a": 3, "b": 4, "c": 9, "\n": 0},
    ),
])
def test_numbers_of_words(arguments, numbers, vocabulary) -> None:
    assert encode_sentences(WORDS, **arguments) == (numbers, vocabulary)


@pytest.mark.clause("encode_sentences/numbers")
def test_letters_and_nothing() -> None:
    assert encode_sentences(["ab", "bc"]) == ([[0, 1], [1, 2]], {"\n": -1, "a": 0, "b": 1, "c": 2})
    assert encode_sentences([]) == ([], {"\n": -1})


@pytest.mark.clause("encode_sentences/unknown")
def test_unknown_words_share_one_number() -> None:
    vocabulary = {"a": 3, "b": 4, "\n": 0}
    numbers, same = encode_sentences([*WORDS, ["q", "r"]], vocab=vocabulary, unknown_token="<unk>")
    assert numbers == [[3, 4, 0], [4, 1], [], [1, 1]]
    assert same is vocabulary
    assert vocabulary == {"a": 3, "b": 4, "\n": 0, "<unk>": 1}
    assert encode_sentences([["c"]], vocab=vocabulary, unknown_token="<unk>")[0] == [[1]]


@pytest.mark.clause("encode_sentences/unknown")
def test_unknown_words_without_a_token() -> None:
    vocabulary = {"a": 3}
    with pytest.raises(AssertionError, match="b is not in vocab") as caught:
        encode_sentences(WORDS, vocab=vocabulary)
    assert caught.value.clause == "encode_sentences/unknown"
    assert vocabulary == {"a": 3}
    with pytest.raises(AssertionError, match="a is not in vocab"):
        encode_sentences(WORDS, vocab={})
