"""Benchmarks against other libraries: ``python -m tests.bench --help``. No test runs them."""
