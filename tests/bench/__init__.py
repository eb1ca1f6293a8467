"""Benchmarks against other libraries: ``python -m tests.bench --help``. Tests run their rows on small sizes only."""
