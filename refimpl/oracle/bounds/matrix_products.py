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


BIASES = {"fully_connected.add_bias": "bias", "convolution.add_bias": "bias"}
"""Page and loop -> the array that it adds to such sums."""
FACTOR, ADDEND = "factor", "addend"


@decides("oracle/declared-products")
def role_of(function: FunctionType, name: str) -> str:
    """What an argument of a loop is to a matrix product: FACTOR, ADDEND, or nothing."""
    loop = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    return FACTOR if name in FACTORS.get(loop, ()) else ADDEND if BIASES.get(loop) == name else ""
