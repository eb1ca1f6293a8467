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

[CTCLoss/label-lengths] with use_label_lengths that many labels count, cut to 0 .. labels; none of them ends the
    row.
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
def class_at(label, start, s, blank):
    """The class at place ``s`` of the label with blanks around each."""
    return truncated(label[start + s // 2]) if s % 2 else blank


@scalar
def skips(label, start, s):
    """Whether a path may come to place ``s`` without the blank before it."""
    return s % 2 == 1 and s > 1 and truncated(label[start + s // 2]) != truncated(label[start + s // 2 - 1])


class Sequences(NamedTuple):
    """Sides of data, (times, batch, classes), and of label, (batch, labels), and how these are read.

    ``blank`` is the class of the blank, ``end`` the label that ends a row.
    """

    times: int
    batch: int
    classes: int
    labels: int
    blank: int
    end: int
    uses_times: bool
    uses_labels: bool


def likelihood(data, label, times_of, labels_of, loss, slope, ahead, behind, g: Sequences):
    """loss and its slope (times, batch, classes), which holds log probabilities meanwhile.

    The places of a row are its labels with a blank before, between and after them. ``ahead`` (batch, times, places)
    sums the paths up to a time and with it, ``behind`` (batch, places) those after it, both as logarithms. On the way
    back ``ahead`` becomes the share of all paths that pass each place at each time.
    """
    times, batch, classes, labels, blank = g.times, g.batch, g.classes, g.labels, g.blank
    for row in items(batch):
        last = cut(times_of[row], times) if g.uses_times else times
        start, most = row * labels, 2 * labels + 1
        count = cut(labels_of[row], labels) if g.uses_labels else 0
        while not g.uses_labels and count < labels and label[start + count] != g.end:
            count += 1
        needed, unknown = count, False
        for i in range(start, start + count):
            name = truncated(label[i])
            unknown = unknown or name < 0 or name >= classes
            if i > start and name == truncated(label[i - 1]):
                needed += 1
        for t in range(times):
            at = (t * batch + row) * classes
            for c in range(classes):
                slope[at + c] = nan if unknown else 0.0
        loss[row] = nan if unknown else 0.0
        if unknown or last == 0 or needed > last:
            continue
        places = 2 * count + 1
        for t in range(last):
            at, here = (t * batch + row) * classes, (row * times + t) * most
            highest = data[at]
            for c in range(1, classes):
                highest = max(highest, data[at + c])
            total = data[at] * 0  # a zero of data's type
            for c in range(classes):
                total += exp(data[at + c] - highest)
            for c in range(classes):
                slope[at + c] = data[at + c] - highest - log_of(total)
            for s in range(places):
                came = -inf
                if t > 0:
                    came = ahead[here - most + s]
                    if s > 0:
                        came = log_add(came, ahead[here - most + s - 1])
                    if skips(label, start, s):
                        came = log_add(came, ahead[here - most + s - 2])
                elif s < 2:
                    came = 0.0
                ahead[here + s] = came + slope[at + class_at(label, start, s, blank)]
        ends = (row * times + last - 1) * most + places - 1
        total = ahead[ends]
        if places > 1:
            total = log_add(total, ahead[ends - 1])
        loss[row] = -total
        for s in range(places):
            behind[row * most + s] = 0.0 if s > places - 3 else -inf
        for back in range(last):
            t = last - 1 - back
            at, here, after = (t * batch + row) * classes, (row * times + t) * most, row * most
            for s in range(places):
                ahead[here + s] = exp(ahead[here + s] + behind[after + s] - total)
                came = behind[after + s] + slope[at + class_at(label, start, s, blank)]
                if s + 1 < places:
                    came = log_add(came, behind[after + s + 1] + slope[at + class_at(label, start, s + 1, blank)])
                if s + 2 < places and skips(label, start, s + 2):
                    came = log_add(came, behind[after + s + 2] + slope[at + class_at(label, start, s + 2, blank)])
                behind[after + s] = came
            for c in range(classes):
                slope[at + c] = exp(slope[at + c])
            for s in range(places):
                slope[at + class_at(label, start, s, blank)] -= ahead[here + s]


def scale(head, slope, d_data, times, batch, classes):
    """d_data[t, n, c] = head[n] . slope[t, n, c]."""
    for row in items(times * batch):
        factor = head[row % batch]
        for k in range(row * classes, row * classes + classes):
            d_data[k] = slope[k] * factor


LIKELIHOOD, SCALE = Loop(likelihood), Loop(scale)


# --- the operator -------------------------------------------------------------------------------


@decides("CTCLoss/data-lengths", "CTCLoss/label-lengths")
def forward(p, data, label, data_lengths, label_lengths, loss, slope):
    (times, batch, classes), labels = data.shape, label.shape[1]
    most = 2 * labels + 1
    ahead, behind = scratch(data, batch * times * most, batch * most)
    first = p.blank_label == "first"
    times_of, labels_of = (data if lengths is None else lengths for lengths in (data_lengths, label_lengths))
    LIKELIHOOD(data, label, times_of, labels_of, loss, slope, ahead, behind, Sequences(
        times=times, batch=batch, classes=classes, labels=labels, blank=0 if first else classes - 1,
        end=0 if first else -1, uses_times=p.use_data_lengths, uses_labels=p.use_label_lengths,
    ))


def backward(p, head, slope, d_data, *others):
    if d_data is not None:
        SCALE(head, slope, d_data, *slope.shape)
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
