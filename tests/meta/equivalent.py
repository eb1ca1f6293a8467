"""Faults that change nothing a test could see, each with the reason: (file, function, before, after)."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    ("kernels/all_finite.py", "find_apart", "x - y", "y - x"): "only the size of the difference is read",
}
