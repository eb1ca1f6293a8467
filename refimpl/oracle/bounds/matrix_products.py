"""The loops that add up products of two arrays, as a device does with units of its own for products and sums."""

from __future__ import annotations

from types import FunctionType

from ...base import decides

FACTORS: dict[str, tuple[str, str]] = {
    "products.product": ("a", "b"), "products.by_kept": ("a", "kept"), "dot.products": ("a", "b"),
    "linalg.products": ("a", "b"), "sparse_dot.csr_product": ("values", "right"),
    "sparse_dot.turned_product": ("values", "right"), "sparse_dot.dense_product": ("left", "values"),
    "sparse_dot.dense_turned_product": ("left", "values"), "convolution.convolve": ("data", "weight"),
    "convolution.send_back": ("head", "weight"), "convolution.gather_weight": ("head", "data"),
    "deformable_sampling.multiply": ("weight", "columns"), "deformable_sampling.multiply_back": ("weight", "head"),
    "deformable_sampling.gather_weight": ("head", "columns"),
}
"""Page and loop -> the two arrays whose elements it multiplies."""


@decides("arithmetic/products")
def factors_of(function: FunctionType) -> tuple[str, ...]:
    """The names of a loop's factors; none where the loop is no matrix product and no convolution."""
    return FACTORS.get(f"{function.__module__.rpartition('.')[2]}.{function.__name__}", ())
