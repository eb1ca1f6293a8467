"""A language model of characters: an LSTM reads a line and says at each character what comes next.

Lines of text have all lengths, so they are sorted into buckets, each with a symbol of its own; the
parameters are the same. The text is that of Python's help topics, or any file.

python char_lstm_bucketing.py --epochs 4
python char_lstm_bucketing.py --text book.txt --num-layers 2
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np

import refimpl as mx

BUCKETS = [16, 32, 48, 64, 80]
INVALID = 0  # fills up lines that are shorter than their bucket


def read_lines(args: argparse.Namespace) -> list[str]:
    """The lines that are not empty, as many as asked for, in an order that a seed decides."""
    text = args.text.read_text(encoding="utf-8") if args.text else "\n".join(map(str, topics.values()))
    lines = [line.strip() for line in text.splitlines()]
    lines = sorted({line for line in lines if 2 <= len(line) <= max(BUCKETS) and line.isascii()})
    random.Random(args.seed).shuffle(lines)
    return lines[: args.lines]


def unigram_perplexity(train: list[list[int]], held_out: list[list[int]], vocabulary: int) -> float:
    """How well a model does that knows only how frequent each character is."""
    counts = Counter(code for line in train for code in line[1:])
    total = sum(counts.values()) + vocabulary
    codes = [code for line in held_out for code in line[1:]]
    return math.exp(-sum(math.log((counts[code] + 1) / total) for code in codes) / len(codes))


def main(arguments: Sequence[str] | None = None) -> tuple[float, float]:
    """Returns the perplexity on held-out lines, and that of the unigram model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--text", type=Path, help="a file to learn from, instead of the help topics")
    parser.add_argument("--lines", type=int, default=6000, help="use so many lines at most")
    parser.add_argument("--num-layers", type=int, default=1)
    parser.add_argument("--num-hidden", type=int, default=96)
    parser.add_argument("--num-embed", type=int, default=24)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate")
    parser.add_argument("--disp-batches", type=int, default=50, help="log every so many batches")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)-15s %(message)s")
    random.seed(args.seed)
    np.random.seed(args.seed)
    mx.random.seed(args.seed)

    lines = read_lines(args)
    vocab = {character: index for index, character in enumerate(sorted(set("".join(lines))), 1)}
    sentences, _ = mx.rnn.encode_sentences([list(line) for line in lines], vocab=vocab, invalid_label=INVALID)
    size = len(vocab) + 1
    split = len(sentences) * 9 // 10
    train = mx.rnn.BucketSentenceIter(
        sentences[:split], args.batch_size, buckets=BUCKETS, invalid_label=INVALID
    )
    held_out = mx.rnn.BucketSentenceIter(
        sentences[split:], args.batch_size, buckets=BUCKETS, invalid_label=INVALID
    )
    baseline = unigram_perplexity(sentences[:split], sentences[split:], size)
    logging.info("%d lines, %d characters in use, buckets %s", len(lines), len(vocab), train.buckets)
    logging.info("perplexity of frequencies alone: %.2f", baseline)

    stack = mx.rnn.SequentialRNNCell()
    for layer in range(args.num_layers):
        stack.add(mx.rnn.LSTMCell(num_hidden=args.num_hidden, prefix=f"lstm_l{layer}_"))

    def sym_gen(seq_len: int) -> tuple[mx.sym.Symbol, tuple[str, ...], tuple[str, ...]]:
        data = mx.sym.Variable("data")
        label = mx.sym.Variable("softmax_label")
        embed = mx.sym.Embedding(data=data, input_dim=size, output_dim=args.num_embed, name="embed")
        stack.reset()
        outputs, _ = stack.unroll(seq_len, inputs=embed, merge_outputs=True)
        pred = mx.sym.Reshape(outputs, shape=(-1, args.num_hidden))
        pred = mx.sym.FullyConnected(data=pred, num_hidden=size, name="pred")
        label = mx.sym.Reshape(label, shape=(-1,))
        pred = mx.sym.SoftmaxOutput(
            data=pred, label=label, use_ignore=True, ignore_label=INVALID, normalization="valid",
            name="softmax",
        )
        return pred, ("data",), ("softmax_label",)

    model = mx.mod.BucketingModule(
        sym_gen=sym_gen, default_bucket_key=train.default_bucket_key, context=mx.cpu()
    )
    start = time.time()
    model.fit(
        train_data=train,
        eval_data=held_out,
        eval_metric=mx.metric.Perplexity(INVALID),
        optimizer="adam",
        optimizer_params={"learning_rate": args.lr, "rescale_grad": 1.0, "clip_gradient": 1.0},
        initializer=mx.init.Xavier(factor_type="in", magnitude=2.34),
        num_epoch=args.epochs,
        batch_end_callback=mx.callback.Speedometer(args.batch_size, args.disp_batches, auto_reset=False),
    )
    logging.info("trained for %.2f seconds", time.time() - start)
    held_out.reset()
    perplexity = dict(model.score(held_out, mx.metric.Perplexity(INVALID)))["perplexity"]
    logging.info("perplexity on held-out lines: %.2f (frequencies alone: %.2f)", perplexity, baseline)
    return float(perplexity), baseline


if __name__ == "__main__":
    main()
