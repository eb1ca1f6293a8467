"""Faults that change nothing a test could see, each with the reason: (file, function, before, after)."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    ("kernels/all_finite.py", "find_apart", "x - y", "y - x"): "only the size of the difference is read",
    ("kernels/sort.py", "chosen", "0 in getattr(p, 'k', 0)", "-1"): "every k below 1 means all elements",
    ("kernels/adagrad.py", "by_row", "1 in max(rows, 1)", "0"): "no operator gets an array without rows",
}
