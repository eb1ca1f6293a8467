"""Other places to run the same kernels."""
