"""Stateful tests: sequences of calls, drawn, interrupted, killed in the middle or given damaged files."""
