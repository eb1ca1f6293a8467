"""Faults that change nothing a test could see, each with the reason.

A fault is (clause, file, function, before, after); "" stands for every clause.
"""

EQUIVALENT: dict[tuple[str, str, str, str, str], str] = {
    ("", "kernels/all_finite.py", "find_apart", "x - y", "y - x"): "only the size of the difference is read",
    ("", "kernels/sort.py", "chosen", "0 in getattr(p, 'k', 0)", "-1"): "every k below 1 means all elements",
    ("", "kernels/adagrad.py", "by_row", "1 in max(rows, 1)", "0"): "no operator gets an array without rows",
    ("", "refimpl/visualization.py", "by_name", "1 in found[1]", "0"): "all three parts are lists, or all are None",
    ("", "kernels/softmax_output.py", "count_valid", "1 in items(1)", "2"): "it counts the same numbers once more",
    ("", "kernels/multibox_target.py", "match_pairs", "1 in range(1, objects)", "0"): "nothing exceeds itself",
    ("", "kernels/linalg_eigen.py", "rotate", "break", "pass"): "a sweep over a diagonal matrix turns nothing visibly",
    ("", "kernels/softmax.py", "softmax_slope", "0 in max(np.int64(length[n, j]), 0)", "1"): "a factor, out, is 0",
    ("", "refimpl/io/mnist.py", "__init__", "1 in least=1", "0"): "the next line refuses 0 parts by the same clause",
    ("", "refimpl/recordio/recordio.py", "_damaged", "192 in self.handle.read(192)", "191"):
        "only the message looks at it",
    ("", "kernels/argmax.py", "seek_largest", "1 in range(1, data.shape[1])", "0"): "no element exceeds itself",
    ("", "kernels/argmax.py", "seek_smallest", "1 in range(1, data.shape[1])", "0"): "no element is below itself",
    (
        "", "kernels/foundation/run.py", "plan", "for buffer in ins", "for buffer in reversed(list(ins))",
    ): "a key names the same call when it lists the inputs from the end",
    ("", "kernels/correlation.py", "compare", "one - other", "other - one"): "only the size of the difference is read",
    ("", "kernels/linalg_parts.py", "take_diagonal", "0 in part.offset < 0", "1"): "both give (k, k) for offset 0",
    (
        "Pooling_v1/sum-order", "kernels/pooling.py", "sum_rows", "for d in range(begin[a], end[a])",
        "for d in reversed(list(range(begin[a], end[a])))",
    ): "Pooling_v1 has no depth, so this loop has one round",
}
