"""Densities: they add up to 1, agree with MXNet's, and their gradients are slopes.

Expected numbers were printed by MXNet 1.9.1 in float64: ``mx.nd.random_pdf_NAME(sample, *parameters)`` and
the gradients after ``backward()``. Its pi has eight digits and its digamma is of single precision.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels.foundation import UNKNOWN
from refimpl.kernels.foundation.harness import Call

from ..loops_as_text import only_twins_are_compiled

X = [[1.0, 2, 0, 3.5]]
# name, sample, parameters, densities, gradients of sample and parameters
RECORDED = [
    ("uniform", [[1.0, 2, 5]], [0.0, 4], [0.25] * 3, ([0, 0, 0], 0.1875, -0.1875)),
    ("normal", [[1.0, 2, 5]], [0.5, 2], [0.1933340557114195, 0.15056871398242413, 0.015869825697024643],
        ([-0.02416675696392744, -0.056463267743409054, -0.017853553909152723], 0.09848357861648921,
         -0.09132666135130187)),
    ("gamma", [[1.0, 2, 5]], [2.5, 2], [0.5759036428073392, 0.22044784377698187, 0.002159976254957099],
        ([-0.2879518214036696, -0.2755598047212273, -0.003671959633427068], None, -0.02945988308699072)),
    ("exponential", [[1.0, 2, 0, -1]], [2.5],
        [0.205212496559747, 0.01684486749771367, 2.5, 30.456234901758684],
        ([-0.5130312413993675, -0.04211216874428417, -6.25, -76.1405872543967], 43.48864957652996)),
    ("poisson", X, [2.5], [0.205212496559747, 0.25651562069968376, 0.0820849986238988, 0.17434503049912484],
        ([0, 0, 0, 0], -0.1867776085000338)),
    ("negative_binomial", X, [2.5, 0.4],
        [0.15178932768808226, 0.15937879407248637, 0.10119288512538817, 0.13139539602595762],
        ([0, 0, 0, 0], -0.19645045500046313, 1.847759514992954)),
    ("generalized_negative_binomial", X, [2.5, 0.4],
        [0.22097086912079614, 0.1933495104806966, 0.1767766952966369, 0.12126090902239645],
        ([0, 0, 0, 0], -0.14976237762814767, 0.008848285174788417)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sample", "parameters", "densities", "gradients"), RECORDED)
@pytest.mark.clause("random_pdf/formulas")
@pytest.mark.clause("random_pdf/gradient")
@pytest.mark.clause("random_pdf/support")
def test_densities_and_gradients_are_those_of_mxnet(
    name: str, sample: list, parameters: list[float], densities: list[float], gradients: tuple
) -> None:
    arrays = [np.array(sample), *(np.array([value], np.float64) for value in parameters)]
    call = Call(f"_random_pdf_{name}", arrays, {})
    with only_twins_are_compiled():  # heavy laws compare its bits with those of machine code in double precision
        found, slopes = call.forward()[0][0], call.backward()
    np.testing.assert_allclose(found, densities, rtol=1e-7)
    for got, wanted in zip(slopes, gradients, strict=True):
        if wanted is not None:
            np.testing.assert_allclose(got.reshape(-1), np.reshape(wanted, -1), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(("name", "sample", "parameters", "densities", "gradients"), RECORDED)
@pytest.mark.clause("random_pdf/is-log")
@pytest.mark.clause("random_pdf/precision")
def test_logarithms(
    name: str, sample: list, parameters: list[float], densities: list[float], gradients: tuple
) -> None:
    for dtype, bound in (("float64", 1e-7), ("float32", 1e-6)):
        arrays = [np.array(sample, dtype), *(np.array([value], dtype) for value in parameters)]
        logs = Call(f"_random_pdf_{name}", arrays, {"is_log": True}).forward()[0]
        assert logs.dtype == dtype
        np.testing.assert_allclose(logs[0], np.log(densities), rtol=bound)


COUNTING = {
    "poisson": ((0.1, 9.0),),
    "negative_binomial": ((0.5, 6.0), (0.25, 1.0)),
    "generalized_negative_binomial": ((0.1, 9.0), (0.1, 1.0)),
}
CONTINUOUS = {
    "normal": ((-3.0, 3.0), (0.5, 3.0)),
    "gamma": ((1.0, 6.0), (0.5, 3.0)),
    "exponential": ((0.5, 3.0),),
}


@pytest.mark.parametrize("name", list(COUNTING))
@pytest.mark.clause("random_pdf/formulas")
@given(data=st.data())
def test_probabilities_of_all_numbers_add_up_to_one(name: str, data: st.DataObject) -> None:
    parameters = [np.array([data.draw(st.floats(*ends))]) for ends in COUNTING[name]]
    sample = np.arange(1000.0)[None]
    (chances,) = Call(f"_random_pdf_{name}", [sample, *parameters], {}).forward()
    assert abs(chances.sum() - 1) < 1e-9


@pytest.mark.parametrize("name", list(CONTINUOUS))
@pytest.mark.clause("random_pdf/formulas")
@given(data=st.data())
def test_the_area_under_a_density_is_one(name: str, data: st.DataObject) -> None:
    """The trapezium rule with steps of 0.01: its error is below the step times the highest density."""
    parameters = [np.array([data.draw(st.floats(*ends))]) for ends in CONTINUOUS[name]]
    sample = np.arange(-40, 60, 0.01) if name == "normal" else np.arange(0, 60, 0.01)
    (density,) = Call(f"_random_pdf_{name}", [sample[None], *parameters], {}).forward()
    assert abs(density.sum() * 0.01 - 1) < 0.01 * density.max()


@pytest.mark.clause("_random_pdf_dirichlet/formula")
@given(st.lists(st.floats(1.0, 5.0), min_size=2, max_size=2), st.integers(0, 20))
def test_two_shares_are_a_beta_distribution(alpha: list[float], first: int) -> None:
    """x^(a-1) (1-x)^(b-1) over its area, which the trapezium rule gives here."""
    a, b = alpha
    grid = (np.arange(4000) + 0.5) / 4000
    area = (grid ** (a - 1) * (1 - grid) ** (b - 1)).mean()
    x = (first + 0.5) / 21
    call = Call("_random_pdf_dirichlet", [np.array([x, 1 - x]), np.array(alpha)], {})
    assert call.shapes == [(1,)]
    np.testing.assert_allclose(call.forward()[0], x ** (a - 1) * (1 - x) ** (b - 1) / area, rtol=1e-3)


@pytest.mark.clause("_random_pdf_dirichlet/gradient")
@pytest.mark.clause("_random_pdf_dirichlet/shape")
def test_dirichlet_of_several_samples() -> None:
    sample, alpha = np.array([[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]]), np.array([[1.0, 2, 3]])
    call = Call("_random_pdf_dirichlet", [sample, alpha], {})
    np.testing.assert_allclose(call.forward()[0], [[4.5, 3.84]], rtol=1e-12)
    d_sample, d_alpha = call.backward()
    np.testing.assert_allclose(d_sample, [[[0, 15, 18], [0, 38.4, 9.6]]], rtol=1e-12)
    np.testing.assert_allclose(d_alpha, [[2.9586026369494123, -3.5568043765638486, 2.556966450433681]], rtol=1e-9)


@pytest.mark.clause("random_pdf/shape")
def test_shapes_are_inferred_from_each_other() -> None:
    call = Call("_random_pdf_normal", [np.ones((2, 3)), np.ones(2), np.ones(2)], {})
    infer, p = call.op.infer, call.p
    assert infer(p, [(UNKNOWN, 3), (2,), None], [None]) == ([(2, 3), (2,), (2,)], [(2, 3)])
    assert infer(p, [(2, 3), (UNKNOWN,), None], [None]) == ([(2, 3), (2,), (2,)], [(2, 3)])
    assert infer(p, [None, None, None], [(4,)]) == ([(4,), None, None], [(4,)])
