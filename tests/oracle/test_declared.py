"""A declared arithmetic: what may be declared, and the bounds that follow, worked by hand."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.oracle import Declared, judge
from refimpl.oracle.backends import declared_of, declaring, isolate
from refimpl.oracle.backends.hello import hello_of
from refimpl.oracle.backends.ours import Ours
from refimpl.oracle.backends.protocol import Reference
from refimpl.oracle.bounds import FIRST_ORDER, NOTHING, RIGOROUS, Shadow, rigorous
from refimpl.oracle.bounds.declared import NAMED, in_force, ulps_of
from refimpl.oracle.bounds.determined import nearest
from refimpl.oracle.bounds.precision import DOUBLE, SINGLE, Ulps, use
from refimpl.oracle.judging.reference import Truth

UNIT = 2.0**-24
ABOVE = 1 + 2.0**-12
"""Its square needs 25 bits: 1 + 2**-11 + 2**-24."""


def program(op: str, *arrays: Any, dtype: str = "float32", then: str = "", **attrs: Any) -> dict[str, Any]:
    """One operator of arrays; ``then`` names an operator of its result and the last array."""
    count = len(arrays)
    given = count - bool(then)
    nodes: list[dict[str, Any]] = [{"op": "null", "name": f"v{i}"} for i in range(count)]
    inputs = [[i, 0] for i in range(given)]
    texts = {name: str(value) for name, value in attrs.items()}
    nodes.append({"op": op, "name": "n", "inputs": inputs, "attrs": texts})
    if then:
        nodes.append({"op": then, "name": "m", "inputs": [[count, 0], [count - 1, 0]], "attrs": {}})
    specs = {
        f"v{i}": {"shape": list(np.shape(x)), "dtype": dtype, "elements": np.ravel(x).tolist()}
        for i, x in enumerate(arrays)
    }
    steps = [{"do": "bind"}, {"do": "forward"}]
    return {"version": 1, "level": 1, "nodes": nodes, "heads": [[len(nodes) - 1, 0]], "arrays": specs, "steps": steps}


def dense(*rows: list[float], dtype: str = "float32") -> dict[str, Any]:
    """The product of two vectors, and a bias where a third row is given."""
    data, weight, *bias = rows
    arrays = [[data], [weight], *bias]
    return program("FullyConnected", *arrays, dtype=dtype, num_hidden=1, no_bias=not bias)


def bounds_of(made: dict[str, Any], **fields: Any) -> list[tuple[float, float]]:
    """The value and the bound of the first element, in either arithmetic."""
    truth = Truth(made, Declared(**fields))
    assert truth.proved is not None
    pairs = [found["1/output0"] for found in (truth.expected, truth.proved)]
    return [(float(values.flat[0]), float(bounds.flat[0])) for values, bounds in pairs]


def status(made: dict[str, Any], element: float, **fields: Any) -> str:
    """The verdict on an implementation that gives ``element`` first, and else what the reference gives."""
    class Other(Reference):
        declares = Declared(**fields)

        def run(self, asked: Any) -> Any:
            trace = super().run(asked)
            trace["1/output0"].flat[0] = element
            return trace

    return judge(Other(), made).status


# --- what may be declared -------------------------------------------------------------------------


@pytest.mark.clause("oracle/declared")
def test_a_backend_declares_nothing_unless_it_says_so() -> None:
    assert declared_of(Reference()) is NOTHING
    assert NOTHING.as_fields() == {}
    made = declaring(Ours("plain"), products="tf32", ulps={"exp": "3+2|x|"})
    assert declared_of(made) == Declared(products="tf32", ulps={"exp": "3+2|x|"})
    assert made.form == "plain"
    assert Declared(**declared_of(made).as_fields()) == made.declares


@pytest.mark.heavy
@pytest.mark.clause("oracle/declared")
def test_a_process_of_its_own_tells_what_it_declares() -> None:
    name = 'refimpl.oracle.backends:declaring("refimpl.oracle.backends.variants:pairwise", sums="float64")'
    with isolate(name) as backend:
        assert declared_of(backend) == Declared(sums="float64")


@pytest.mark.parametrize(("fields", "message"), [
    ({"products": "float64"}, "products='float64' is no arithmetic; it may be None, 'float16', 'bfloat16', 'tf32'"),
    ({"sums": "tf32"}, "sums='tf32' is no arithmetic"), ({"fused": True}, "fused=True is no arithmetic"),
    ({"flushed": "yes"}, "it may be 'results', 'operands', 'never'"), ({"bits": "all"}, "bits='all' is no arithmetic"),
    ({"ulps": {"tanhh": 3}}, "ulps of 'tanhh' cannot be declared; there are div, sqrt"),
    ({"ulps": {"exp": "3x"}}, "'3x' is no error of a function; write 2.5, 3\\+2|x| or abs 2\\^-11"),
    ({"ulps": {"exp": -1}}, "'?-1'? is no error of a function"), ({"ulps": {"exp": "1e999"}}, "it is infinite"),
    ({"ulps": {"div": "2|x|"}}, "ulps of div are a number, not '2|x|'"),
])
def test_another_arithmetic_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Declared(**fields)


@pytest.mark.clause("oracle/declared-functions")
def test_the_error_of_a_function_is_a_number_or_a_short_text() -> None:
    assert ulps_of(2.5) == ulps_of("2.5") == Ulps(2.5)
    assert ulps_of("3+2|x|") == ulps_of("3 + 2|x|") == Ulps(3, 2)
    assert ulps_of("abs 2^-11") == Ulps(0, 0, 2.0**-11)
    assert ulps_of("4096+abs 6.77e-5") == Ulps(4096, 0, 6.77e-5)


@pytest.mark.clause("oracle/declared")
def test_the_first_message_of_a_process_has_the_declaration() -> None:
    made = declaring(Ours("plain"), sums="bfloat16", ulps={"div": 2.5})
    assert Declared(**json.loads(json.dumps(hello_of(made)["declares"]))) == made.declares


# --- products and sums ----------------------------------------------------------------------------


@pytest.mark.clause("oracle/declared-products")
@pytest.mark.parametrize(("products", "cut", "unit"), [
    ("bfloat16", False, 2.0**-8), ("tf32", False, 2.0**-11), ("float16", False, 2.0**-11), ("tf32", True, 2.0**-10),
])
def test_operands_are_rounded_before_they_are_multiplied(products: str, cut: bool, unit: float) -> None:
    made = dense([ABOVE], [3.0])  # 3 has few bits and is not rounded
    for value, bound in bounds_of(made, products=products, truncated=cut):
        assert value == 3 * ABOVE
        assert bound == pytest.approx(3 * unit, rel=1e-3)
    assert bounds_of(made) == [(3 * ABOVE, 0.0)] * 2
    assert bounds_of(dense([1.5], [3.0]), products=products, truncated=cut) == [(4.5, 0.0)] * 2


@pytest.mark.clause("oracle/declared-products")
def test_products_of_elements_and_other_types_are_not_rounded() -> None:
    made = program("elemwise_mul", [ABOVE], [3.0])
    assert bounds_of(made, products="bfloat16") == bounds_of(made) == [(3 * ABOVE, 0.0)] * 2
    made = dense([1 + 2.0**-40], [3.0], dtype="float64")
    assert bounds_of(made, products="bfloat16", sums="bfloat16") == bounds_of(made)
    image, kernel = [[[[ABOVE]]]], [[[[3.0]]]]
    made = program("Convolution", image, kernel, kernel=(1, 1), num_filter=1, no_bias=True)
    assert all(bound == pytest.approx(3 * 2.0**-8, rel=1e-3) for _, bound in bounds_of(made, products="bfloat16"))


@pytest.mark.clause("oracle/declared-products")
def test_an_operand_beyond_the_range_of_its_type_leaves_the_result_free() -> None:
    assert [bound for _, bound in bounds_of(dense([70000.0], [1.0]), products="float16")] == [np.inf] * 2
    assert bounds_of(dense([70000.0], [1.0]), products="tf32")[0][1] < 70


@pytest.mark.clause("oracle/declared-sums")
def test_products_are_added_in_the_declared_type() -> None:
    made = dense([2048.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert bounds_of(made) == [(2050.0, 0.0)] * 2
    for _, bound in bounds_of(made, sums="float16"):
        assert bound >= 2  # 2048 + 1 is 2048 there
    assert all(bound >= 2 for _, bound in bounds_of(dense([256.0, 1.0, 1.0], [1.0] * 3), sums="bfloat16"))
    wide = dense([2.0**24, *[1.0] * 8], [1.0] * 9)
    assert all(8 <= bound < 20 for _, bound in bounds_of(wide))
    assert all(1 <= bound < 2.01 for _, bound in bounds_of(wide, sums="float64"))  # rounded to be stored, and for us


@pytest.mark.clause("oracle/declared-sums")
def test_a_bias_may_be_converted_and_added_first() -> None:
    # 1000 + 0.25 is 1000 in bfloat16, so that 1000 + 0.25 - 1000 is 0
    made = dense([0.25, 1.0], [1.0, -1000.0], [1000.0])
    assert all(bound >= 0.25 for _, bound in bounds_of(made, sums="bfloat16"))
    made = dense([0.25], [1.0], [1001.0])  # 1001 is no number of bfloat16
    assert all(bound >= 3.25 for _, bound in bounds_of(made, sums="bfloat16"))


@pytest.mark.clause("oracle/declared-sums", "oracle/declared-reference")
def test_what_the_reference_gives_may_be_wrong_where_sums_are_wider() -> None:
    made = dense([2.0**24, *[1.0] * 8], [1.0] * 9)
    ours, right = 2.0**24, 2.0**24 + 8
    assert Truth(made).trace["1/output0"] == ours
    assert status(made, ours) == status(made, right) == "passed"
    assert status(made, ours, sums="float64") == "failed"
    assert status(made, right, sums="float64") == "passed"


@pytest.mark.clause("oracle/declared-sums")
def test_half_precision_is_added_up_in_single_precision_unless_a_backend_says_otherwise() -> None:
    made = dense([2048.0, 1.0, 1.0], [1.0, 1.0, 1.0], dtype="float16")
    assert bounds_of(made) == bounds_of(made, sums="float32") == [(2050.0, 0.0)] * 2
    assert status(made, 2048.0) == "failed"
    assert status(made, 2048.0, sums="float16") == "passed"


@pytest.mark.clause("oracle/declared-sums")
@pytest.mark.parametrize("arithmetic", [FIRST_ORDER, RIGOROUS], ids=["first", "proved"])
def test_a_factor_that_is_a_sum_is_rounded_in_its_own_precision(arithmetic: Any) -> None:
    third = arithmetic.number(1 / 3)
    total = third + third + third
    (closed,) = Shadow(arithmetic).addends([total], DOUBLE)
    assert (closed.terms, closed.error) == (0, total.split())
    (still,) = Shadow(arithmetic).addends([total], NAMED["bfloat16"])
    before = use(NAMED["bfloat16"])
    assert total.bound() <= still.bound() * 2**16
    use(before)


# --- subnormal numbers ----------------------------------------------------------------------------


@pytest.mark.clause("oracle/declared-subnormal")
def test_operands_may_be_flushed_as_results_are() -> None:
    tiny = float(np.float32(1e-40))
    scaled = program("_mul_scalar", [tiny, 1.0], scalar=2.0**60)
    assert status(program("_copy", [tiny]), 0.0) == "passed"
    assert status(scaled, 0.0) == "failed"
    assert status(scaled, 0.0, flushed="operands") == "passed"
    assert status(scaled, 3e-22, flushed="operands") == "failed"
    assert bounds_of(program("_copy", [2.0**-126]), flushed="operands") == [(2.0**-126, 0.0)] * 2


@pytest.mark.clause("oracle/declared-subnormal")
def test_nothing_is_flushed_where_that_is_declared() -> None:
    made = program("elemwise_mul", [2.0**-100], [2.0**-40])
    assert status(made, 0.0) == "passed"
    assert bounds_of(made, flushed="never") == [(2.0**-140, 0.0)] * 2
    assert status(made, 0.0, flushed="never") == "failed"
    made = program("elemwise_mul", [2.0**-100 * (1 + 2.0**-23)], [2.0**-40])  # half of the last bit is 2**-150
    assert all(2.0**-150 <= bound <= 2.0**-146 for _, bound in bounds_of(made, flushed="never"))


# --- fused products -------------------------------------------------------------------------------


@pytest.mark.clause("oracle/declared-fused")
def test_one_product_and_one_addition_are_determined_where_they_never_fuse() -> None:
    made = program("elemwise_mul", [ABOVE], [ABOVE], [-1.0], then="elemwise_add")
    separate, once = 2.0**-11, 2.0**-11 + 2.0**-24
    assert status(made, separate) == status(made, once) == "passed"
    assert bounds_of(made, fused="never") == [(separate, 0.0)] * 2
    assert status(made, separate, fused="never") == "passed"
    assert status(made, once, fused="never") == "failed"
    # the operators may run one by one, and what is stored in between rounds
    assert status(made, separate, fused="always") == status(made, once, fused="always") == "passed"


@pytest.mark.clause("oracle/declared-fused", "oracle/declared-reference")
def test_one_product_and_one_addition_round_once_where_they_always_fuse() -> None:
    made = program("hard_sigmoid", [ABOVE], alpha=ABOVE, beta=-1.0)
    separate, once = 2.0**-11, 2.0**-11 + 2.0**-24
    assert bounds_of(made, fused="always") == [(once, 0.0)] * 2
    assert bounds_of(made, fused="never") == [(separate, 0.0)] * 2
    assert status(made, once, fused="always") == status(made, separate, fused="never") == "passed"
    assert status(made, separate, fused="always") == status(made, once, fused="never") == "failed"


@pytest.mark.clause("oracle/declared-fused")
@pytest.mark.parametrize("fused", ["always", "never"])
@pytest.mark.parametrize("arithmetic", [FIRST_ORDER, RIGOROUS], ids=["first", "proved"])
def test_what_other_orders_change_is_not_determined(arithmetic: Any, fused: str) -> None:
    rigorous.made.numbers = 0
    with in_force(Declared(fused=fused), arithmetic):
        x, y = arithmetic.exactly(ABOVE), arithmetic.exactly(float(np.float32(0.3)))
        one, tenth = arithmetic.exactly(1.0), arithmetic.number(0.1)
        determined = [x * y, x + y, x - y, x * y + 0.0, one - y * x]
        assert [each.pair()[1] for each in determined] == [0] * 5
        many = [x * y * y, x * y + y * y, x + y + y, (x - one) * y, x * tenth, (x * y + one) * y, x / y, (x + y) * y]
        assert all(each.pair()[1] > 0 for each in many)
        exact = arithmetic.exactly(3.0) * arithmetic.exactly(0.5)  # 3 * 0.5 + fl(x * y), or fl(3 * 0.5 + x * y)
        assert ((exact + x * y).pair()[1] > 0) is (fused == "always")
    assert (x * y).pair()[1] > 0


@pytest.mark.clause("oracle/declared-fused")
@given(*[st.floats(-1000, 1000, width=32).filter(lambda x: abs(x) > 1e-3)] * 3)
def test_what_is_determined_is_what_single_precision_gives(a: float, b: float, c: float) -> None:
    x, y, z = map(np.float32, (a, b, c))
    for fused, right in (("never", x * y - z), ("always", _once(a, b, -c))):
        with in_force(Declared(fused=fused), FIRST_ORDER):
            made = FIRST_ORDER.exactly(a) * FIRST_ORDER.exactly(b) - FIRST_ORDER.exactly(c)
            value, bound = made.pair()
        if right is not None and abs(right) > 1e-30:
            assert (value, bound) == (float(right), 0.0)


def _once(a: float, b: float, c: float) -> Fraction | None:
    return nearest(Fraction(a) * Fraction(b) + Fraction(c), SINGLE)


# --- functions ------------------------------------------------------------------------------------


@pytest.mark.clause("oracle/declared-functions")
@pytest.mark.parametrize("arithmetic", [FIRST_ORDER, RIGOROUS], ids=["first", "proved"])
@pytest.mark.parametrize(("name", "at", "ulps", "bound"), [
    ("div", (1, 3), 2.5, 5 * UNIT / 3), ("div", (1, 3), 0.5, UNIT / 3),
    ("div", (3, 4), 2.5, 5 * UNIT * 3 / 4), ("div", (3, 4), 0.5, 0.0),  # exact only where it is rounded correctly
    ("div", (1, 2.0**127), 2.5, np.inf),  # its reciprocal is no normal number
    ("exp", (2,), "3+2|x|", 14 * UNIT * np.e**2), ("exp", (0,), "3+2|x|", 6 * UNIT), ("exp", (0,), 0.5, 0.0),
    ("sin", (1,), "abs 2^-11", 2.0**-11), ("sqrt", (4,), 1, 4 * UNIT), ("log", (2,), 3, 6 * UNIT * np.log(2)),
])
def test_a_function_may_be_wrong_by_what_is_declared(
    arithmetic: Any, name: str, at: tuple[float, ...], ulps: Any, bound: float
) -> None:
    function = (lambda a, b: a / b) if name == "div" else getattr(arithmetic.replacement(math), name)
    given = [arithmetic.exactly(float(x)) for x in at]
    with in_force(Declared(ulps={name: ulps}), arithmetic):
        assert float(function(*given).bound()) == pytest.approx(bound, rel=1e-3)
    with in_force(Declared(ulps={"tan": ulps if name != "div" else 1}), arithmetic):
        other = function(*given).bound()
    assert other == function(*given).bound()


# --- bits -----------------------------------------------------------------------------------------


@pytest.mark.clause("oracle/declared-bits")
def test_who_claims_bits_is_held_to_the_order_of_sums() -> None:
    made = dense([2.0**24, 1.0, -(2.0**24)], [1.0, 1.0, 1.0])
    assert status(made, 0.0) == status(made, 1.0) == "passed"  # any order will do
    assert status(made, 0.0, bits=True) == "passed"
    assert status(made, 1.0, bits=True) == "failed"
    assert status(program("_copy", [0.0]), -0.0, bits=True) == "failed"
    assert status(program("_copy", [np.nan]), np.nan, bits=True) == "passed"
    assert status(program("argmax", [[1.0, 3.0]], axis=1), 0.0, bits=True) == "failed"


def test_bounds_without_a_declaration_are_those_before_one() -> None:
    made = program("elemwise_div", [1.0], [3.0])
    before = bounds_of(made)
    bounds_of(made, products="float16", flushed="never", fused="always", ulps={"div": 9})
    assert bounds_of(made) == before
