"""Faults that change nothing a test could see, each with the reason: (file, function, before, after)."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {}
