"""CTCLoss: the negative log-likelihood of labels that are written along a sequence at unknown times.

data is (times, batch, classes), before softmax; label is (batch, labels). A path names one class per time; it
spells the labels that remain when neighbours that are equal become one and the blank class is left out.

[CTCLoss/loss] minus the logarithm of the sum of the probabilities of all paths that spell the label (Graves et al.,
    Connectionist Temporal Classification, 2006). With two classes and two times, 3 of 4 paths spell [1].
    >>> run("CTCLoss", [[[0, 0]], [[0, 0]]], [[1]]), float(np.round(np.log(4 / 3), 6))
    ([0.287682], 0.287682)

[CTCLoss/blank-first] with blank_label="first" the blank is class 0, labels begin at 1, and a 0 ends them.
    >>> data = [[[0, 1, 0]], [[2, 0, 0]], [[0, 0, 1]]]
    >>> run("CTCLoss", data, [[1, 2]]) == run("CTCLoss", data, [[1, 2, 0]])
    True
    >>> run("CTCLoss", data, [[1, 0, 2]]) == run("CTCLoss", data, [[1]])
    True

[CTCLoss/blank-last] with blank_label="last" the blank is the last class, labels begin at 0, and a -1 ends them.
    >>> run("CTCLoss", [[[0, 0]], [[0, 0]]], [[0, -1]], blank_label="last")
    [0.287682]

[CTCLoss/data-lengths] with use_data_lengths a row of the batch ends after its length, which is cut to 0 .. times; later
    times do not matter and have gradient 0.
    >>> run("CTCLoss", [[[0, 0]], [[0, 0]], [[5, 7]]], [[1]], [2], use_data_lengths=True)
    [0.287682]

[CTCLoss/label-lengths] with use_label_lengths that many labels count, cut to 0 .. labels. None of them ends the
    row: a label that names the blank class counts like any other, at a place of its own.
    >>> run("CTCLoss", [[[0, 0]], [[0, 0]]], [[1, 1]], [1], use_label_lengths=True)
    [0.287682]

[CTCLoss/impossible] a row whose labels need more times than there are (one each, and one more between equal
    neighbours) has loss and gradient 0.
    >>> run("CTCLoss", [[[0, 0]], [[0, 0]]], [[1, 1]])
    [0.0]

[CTCLoss/empty] a row without labels is spelled by one path, that of blanks.
    >>> run("CTCLoss", [[[0, 0]], [[0, 0]]], [[0]]), float(np.round(np.log(4), 6))
    ([1.386294], 1.386294)

[CTCLoss/label-range] a label that is no class makes loss and gradient of its row NaN.
    >>> run("CTCLoss", [[[0, 0], [0, 0]], [[0, 0], [0, 0]]], [[5], [1]])
    [nan, 0.287682]

[CTCLoss/label-count] there are at most as many labels as times.

[CTCLoss/shape] data has three axes, label two; batch sizes agree, also those of data_lengths and label_lengths.

[CTCLoss/sum-order] the softmax adds its classes in order; paths are summed as logarithms, in increasing time and then
    increasing place in the label; sums that are kept from one time to the next have data's type.

[CTCLoss/types] data, loss and gradient have one type; label and lengths may each have another.
    >>> run("CTCLoss", [[[0, 0]], [[0, 0]]], np.array([[1]], np.int32))
    [0.287682]

[CTCLoss/gradient] softmax of data minus the share of all spelling paths that pass each class at each time, times the
    head; label and lengths have gradient 0.
    >>> grad("CTCLoss", [[[0, 0]], [[0, 0]]], [[1]], head=[3])
    ([[[0.5, -0.5]], [[0.5, -0.5]]], [[0.0]])
"""

from math import exp, inf, log1p, nan
from math import log as log_of
from typing import Literal, NamedTuple

from .foundation import (
    UNKNOWN,
    Case,
    Loop,
    Op,
    decides,
    items,
    merge,
    register,
    require,
    require_some,
    same_type,
    scalar,
    scratch,
    steps,
    told,
)
from .foundation.loops import truncated, zero


class Params(NamedTuple):
    use_data_lengths: bool = False
    use_label_lengths: bool = False
    blank_label: Literal["first", "last"] = "first"


def inputs(p):
    lengths = ("data_lengths",) * p.use_data_lengths + ("label_lengths",) * p.use_label_lengths
    return ("data", "label", *lengths)


def infer(p, ins, outs):
    data = merge("CTCLoss/shape", "data", ins[0], (UNKNOWN,) * 3)
    label = merge("CTCLoss/shape", "label", ins[1], (UNKNOWN, UNKNOWN))
    data = merge("CTCLoss/shape", "gradient", outs[1], data)
    batch = (UNKNOWN,)
    for name, shape in zip((*inputs(p)[2:], "output"), (*ins[2:], outs[0]), strict=True):
        batch = merge("CTCLoss/shape", name, shape, batch)
    (batch,) = merge("CTCLoss/shape", "batch of data", (data[1],), batch)
    (batch,) = merge("CTCLoss/shape", "batch of label", (label[0],), (batch,))
    require(
        "CTCLoss/label-count", not told(data[0], label[1]) or label[1] <= data[0],
        f"{label[1]} labels in a row need at least as many times; data has {data[0]}",
    )
    shape = (data[0], batch, data[2])
    require_some("the axis of classes", data[2], (*shape[:2],))
    return [shape, (batch, label[1])] + [(batch,)] * (len(ins) - 2), [(batch,), shape]


def infer_type(p, ins, outs):
    (data,), outs = same_type(p, ins[:1], outs)
    return [data, *[data if kind is None else kind for kind in ins[1:]]], outs


# --- loops --------------------------------------------------------------------------------------


@scalar
def log_add(a, b):
    """log(e^a + e^b)."""
    if a == -inf:
        return b
    if b == -inf:
        return a
    gap = a - b
    return (a if gap > 0 else b) + log1p(exp(-abs(gap)))


@scalar
def cut(value, most):
    """A length as a whole number inside 0 .. most."""
    return min(max(truncated(value), 0), most)


@scalar
def class_at(label, n, s, blank):
    """The class at place ``s`` of row n: its labels with a blank before, between and after them."""
    return truncated(label[n, s // 2]) if s % 2 else blank


@scalar
def skips(label, n, s):
    """Whether a path may come to place ``s`` without the blank before it: from a label to one that differs."""
    return s % 2 == 1 and s > 1 and truncated(label[n, s // 2]) != truncated(label[n, s // 2 - 1])


class Sequences(NamedTuple):
    """``blank`` is the class of the blank, ``end`` the label that ends a row; lengths count where they are used."""

    blank: int
    end: int
    uses_times: bool
    uses_labels: bool


@scalar
def count_of(label, labels_of, n, g):
    """How many labels row n has."""
    if g.uses_labels:
        return cut(labels_of[n], label.shape[1])
    count = 0
    while count < label.shape[1] and label[n, count] != g.end:
        count += 1
    return count


@scalar
def times_needed(label, n, count, classes):
    """One time for each label and one more between equal neighbours; -1 if a label is no class."""
    needed = count
    for i in range(count):
        name = truncated(label[n, i])
        if name < 0 or name >= classes:
            return -1
        if i > 0 and name == truncated(label[n, i - 1]):
            needed += 1
    return needed


@scalar
def fill_log_softmax(data, log_p, n, times):
    """log_p[t, n, c] = data[t, n, c] - log(sum of exp(data[t, n, k]) over k)."""
    for t in range(times):
        highest = data[t, n, 0]
        for c in range(1, data.shape[2]):
            highest = max(highest, data[t, n, c])
        total = data[t, n, 0] * 0  # a zero of data's type
        for c in range(data.shape[2]):
            total += exp(data[t, n, c] - highest)
        for c in range(data.shape[2]):
            log_p[t, n, c] = data[t, n, c] - highest - log_of(total)


@scalar
def add_paths(label, log_p, alpha, n, times, places, blank):
    """alpha[n, t, s] = log of the sum of the probabilities of all beginnings of paths that are at place s at time t.

    That is log_p[t, n, class of s] + log(sum of exp(alpha[n, t - 1, k])) over the places k from which a path comes: s,
    s - 1, and s - 2 if it skips a blank. A path begins at place 0 or 1 and ends at one of the last two. Returns the
    logarithm of the sum of the probabilities of all paths.
    """
    for t, s in steps((times, places)):
        came = 0.0 if s < 2 else -inf
        if t > 0:
            came = alpha[n, t - 1, s]
            if s > 0:
                came = log_add(came, alpha[n, t - 1, s - 1])
            if skips(label, n, s):
                came = log_add(came, alpha[n, t - 1, s - 2])
        alpha[n, t, s] = came + log_p[t, n, class_at(label, n, s, blank)]
    total = alpha[n, times - 1, places - 1]
    return log_add(total, alpha[n, times - 1, places - 2]) if places > 1 else total


@scalar
def share_paths(label, log_p, alpha, beta, n, times, places, total, blank):
    """alpha[n, t, s] becomes exp(alpha[n, t, s] + beta[n, s] - total), the share of all paths at place s at time t.

    beta[n, s] = log of the sum of the probabilities of all ends of paths after time t that leave place s: 0 at the last
    time for the last two places, and before it log(sum of exp(beta[n, k] + log_p[t + 1, n, class of k])), with beta of
    time t + 1, over the places k to which a path goes.
    """
    for s in range(places):
        beta[n, s] = 0.0 if s > places - 3 else -inf
    for back in range(times):
        t = times - 1 - back
        for s in range(places):
            alpha[n, t, s] = exp(alpha[n, t, s] + beta[n, s] - total)
            goes = beta[n, s] + log_p[t, n, class_at(label, n, s, blank)]
            if s + 1 < places:
                goes = log_add(goes, beta[n, s + 1] + log_p[t, n, class_at(label, n, s + 1, blank)])
            if s + 2 < places and skips(label, n, s + 2):
                goes = log_add(goes, beta[n, s + 2] + log_p[t, n, class_at(label, n, s + 2, blank)])
            beta[n, s] = goes


@scalar
def subtract_shares(label, share, slope, n, times, places, blank):
    """slope[t, n, c] becomes exp(slope[t, n, c]) - sum of share[n, t, s] over the places s of class c."""
    for t in range(times):
        for c in range(slope.shape[2]):
            slope[t, n, c] = exp(slope[t, n, c])
        for s in range(places):
            slope[t, n, class_at(label, n, s, blank)] -= share[n, t, s]


def likelihood(data, label, times_of, labels_of, loss, slope, alpha, beta, g: Sequences):
    """loss[n] = -log(sum of the probabilities of all paths), and its slope by data[t, n, c].

    ``slope`` holds the log probabilities of the classes meanwhile; ``alpha`` (batch, times, places) is of beginnings of
    paths, ``beta`` (batch, places) of their ends.
    """
    most_times, batch, classes = data.shape
    for n in items(batch):
        times = cut(times_of[n], most_times) if g.uses_times else most_times
        count = count_of(label, labels_of, n, g)
        needed, places = times_needed(label, n, count, classes), 2 * count + 1
        loss[n] = nan if needed < 0 else 0.0
        for t, c in steps((most_times, classes)):
            slope[t, n, c] = nan if needed < 0 else 0.0
        if times > 0 and 0 <= needed <= times:
            fill_log_softmax(data, slope, n, times)
            total = add_paths(label, slope, alpha, n, times, places, g.blank)
            loss[n] = -total
            share_paths(label, slope, alpha, beta, n, times, places, total, g.blank)
            subtract_shares(label, alpha, slope, n, times, places, g.blank)


def scale(head, slope, d_data):
    """d_data[t, n, c] = head[n] . slope[t, n, c]."""
    for t, n in items(slope.shape[:2]):
        factor = head[n]
        for c in range(slope.shape[2]):
            d_data[t, n, c] = slope[t, n, c] * factor


LIKELIHOOD, SCALE = Loop(likelihood), Loop(scale)


# --- the operator -------------------------------------------------------------------------------


@decides("CTCLoss/data-lengths", "CTCLoss/label-lengths")
def forward(p, data, label, data_lengths, label_lengths, loss, slope):
    times, batch, classes = data.shape
    places = 2 * label.shape[1] + 1
    alpha, beta = scratch(data, batch * times * places, batch * places)
    alpha, beta = alpha.reshape((batch, times, places)), beta.reshape((batch, places))
    first = p.blank_label == "first"
    # data stands for lengths that are not there; never used then
    times_of, labels_of = (data if lengths is None else lengths for lengths in (data_lengths, label_lengths))
    LIKELIHOOD(data, label, times_of, labels_of, loss, slope, alpha, beta, Sequences(
        blank=0 if first else classes - 1, end=0 if first else -1, uses_times=p.use_data_lengths,
        uses_labels=p.use_label_lengths,
    ))


def backward(p, head, slope, d_data, *others):
    if d_data is not None:
        SCALE(head, slope, d_data)
    for other in others:
        zero(other)


def cases(draw):
    times, batch, classes = draw.integer(1, 5), draw.integer(1, 3), draw.integer(2, 4)
    labels = draw.integer(1, times)
    first = draw.boolean()
    params = {
        "use_data_lengths": draw.boolean(), "use_label_lengths": draw.boolean(),
        "blank_label": "first" if first else "last",
    }
    low = int(params["use_label_lengths"]) - int(not first)
    return Case(params, {"data": (times, batch, classes), "label": (batch, labels)}, {
        "label": ("ints", low if first else max(low, -1), classes - 1 if first else classes - 2),
        "data_lengths": ("ints", 1, times), "label_lengths": ("ints", 0, labels),
    })


register(Op(
    name="CTCLoss", doc=__doc__, params=Params, inputs=inputs,
    all_inputs=("data", "label", "data_lengths", "label_lengths"), outputs=("output0", "gradient"), hidden=1,
    infer=infer, infer_type=infer_type, forward=forward, backward=backward, needs=("gradient",),
    no_gradient=("label", "data_lengths", "label_lengths"),
    aliases=("ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"), cases=cases,
    refusals={
        "CTCLoss/label-count": {"params": {}, "shapes": {"data": (2, 3, 4), "label": (3, 3)}},
        "CTCLoss/shape": {"params": {}, "shapes": {"data": (2, 3, 4), "label": (2, 2)}},
    },
    tier=2,
))
