"""The functions of operators explain themselves; those of MXNet that are not here say so."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
import types

import pytest

import refimpl as mx
from refimpl import cli
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import REGISTRY, Op
from refimpl.op_registry import docs as operator_docs
from refimpl.op_registry import facts as operator_facts
from refimpl.op_registry import known as known_operators

ABSENT = next((name for name in known_operators.tiers() if name not in REGISTRY and name[0] != "_"), "")
ABSENT_INTERNAL = "_split_v2_backward"


def test_docstring_of_a_layer() -> None:
    text = mx.nd.FullyConnected.__doc__
    assert text.startswith("FullyConnected(data, weight, bias=None, num_hidden=<required>, no_bias=False, ")
    for line in (
        "out = data . weight^T + bias.", "Parameters", "data : NDArray", "bias : NDArray, optional",
        "num_hidden : int >= 1, required", "no_bias : bool, default False", "Returns", "output : NDArray",
        "[FullyConnected/bias-shape] bias is (num_hidden,); with no_bias there is none.",
        '    >>> run("FullyConnected", [[1, 2]], [[3, 4], [5, 6]], [10, 20], num_hidden=2)',
    ):
        assert line in text.splitlines(), line


def test_docstring_of_a_symbol_function() -> None:
    lines = mx.sym.FullyConnected.__doc__.splitlines()
    assert lines[0].startswith("FullyConnected(data=None, weight=None, bias=None, num_hidden=<required>")
    assert "data : Symbol" in lines
    assert "name : str, optional" in lines


def test_choices_and_defaults() -> None:
    lines = mx.nd.Activation.__doc__.splitlines()
    (choice,) = [line for line in lines if line.startswith("act_type : ")]
    assert choice.endswith(", required")
    for word in ("relu", "sigmoid", "softrelu", "softsign", "tanh"):
        assert word in choice
    assert "p : float >= 0 <= 1, default 0.5" in mx.nd.Dropout.__doc__.splitlines()


def test_a_row_of_a_family_shows_its_row_and_not_the_rules_of_others() -> None:
    text = mx.nd.exp.__doc__
    assert '("exp", exp, exp_slope, OUT, ("_sparse_exp",), "any", 1, True, None, "head")' in text
    assert "aliases, values that cases may draw,\n    # and fields of Op: tier, whether it is a method" in text
    assert "[unary/elementwise]" in text
    assert "[unary/at-zero] abs" not in text
    assert "About other operators of kernels/unary.py: [unary/at-zero]" in text
    assert "[unary/at-zero] abs" in mx.nd.abs.__doc__


def test_an_alias_says_whose_name_it_is() -> None:
    assert "Another name of add_n." in mx.nd.ElementWiseSum.__doc__
    assert mx.nd.ElementWiseSum.__doc__.startswith("ElementWiseSum(*data, out=None, **kwargs)")


def test_no_gradient_is_said_with_its_clause() -> None:
    assert "None: [khatri_rao/gradient]." in mx.nd.khatri_rao.__doc__
    assert "None: no inputs." in mx.nd._internal._zeros.__doc__


@pytest.mark.parametrize("op", [op for op in distinct() if not op.has_gradient], ids=lambda op: op.name)
def test_the_clause_that_denies_a_gradient_is_written(op: Op) -> None:
    written = {clause.name for clause in operator_facts.page(op).clauses} | {"gradient/differentiable", "no inputs"}
    assert operator_facts.denial(op) in written


@pytest.mark.parametrize("name", [op.name for op in distinct()])
def test_every_operator_has_a_docstring_and_a_signature(name: str) -> None:
    op = get(name)
    for value in ("NDArray", "Symbol"):
        text = operator_docs.document(op, name, value)
        assert text.startswith(f"{name}(")
        assert "Returns\n-------" in text
        described = operator_docs.signature(op, value)
        for each in described.parameters:
            assert each in ("kwargs", "out", "name", "attr") or each in text
        for field in op.params._fields:
            assert field in described.parameters or field == op.variadic


def test_inspect_and_help() -> None:
    described = inspect.signature(mx.nd.FullyConnected)
    assert list(described.parameters) == [
        "data", "weight", "bias", "num_hidden", "no_bias", "flatten", "out", "kwargs"
    ]
    assert described.parameters["no_bias"].default is False
    assert described.parameters["num_hidden"].default is operator_docs.REQUIRED
    assert described.bind(1, 2, num_hidden=3).arguments == {"data": 1, "weight": 2, "num_hidden": 3}
    shown = pydoc.plain(pydoc.render_doc(mx.sym.FullyConnected))
    assert "FullyConnected(data=None, weight=None, bias=None" in shown
    assert "[FullyConnected/flatten]" in shown


def test_functions_are_named_and_are_routines() -> None:
    assert inspect.isroutine(mx.nd.exp)
    assert (mx.nd.exp.__name__, mx.nd.exp.__qualname__) == ("exp", "exp")
    assert mx.nd.exp.__module__ == "refimpl.ndarray.operators"
    assert repr(mx.sym.exp) == "<operator exp on Symbols>"


def test_methods_have_the_text_of_their_operator() -> None:
    array = mx.nd.array([[1.0, 2.0]])
    assert array.sum.__doc__ == mx.nd.sum.__doc__
    assert array.sum.__name__ == "sum"
    assert list(inspect.signature(array.sum).parameters) == ["axis", "keepdims", "exclude", "out", "kwargs"]
    assert mx.sym.Variable("a").exp.__doc__ == mx.sym.exp.__doc__


def test_a_function_in_a_class_is_a_method() -> None:
    class Layer(mx.nd.NDArray):
        twice = mx.nd.square

    assert mx.nd.square.__get__(None, Layer) is mx.nd.square
    bound = Layer.__dict__["twice"].__get__(mx.nd.array([3.0]), Layer)
    assert bound().asscalar() == 9.0


def test_nothing_is_made_from_pages_at_import() -> None:
    code = (
        "import sys, refimpl; "
        "print([m for m in ('refimpl.op_registry.docs', 'refimpl.op_registry.facts') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


# --- operators that are not here ------------------------------------------------------------------


@pytest.mark.clause("contract/known-operator")
@pytest.mark.skipif(not ABSENT, reason="every public operator of MXNet is here")
@pytest.mark.parametrize("module", [mx.nd, mx.sym, mx.nd.op, mx.sym.op])
def test_an_operator_of_mxnet_that_is_not_here_says_so_when_it_is_called(module: object) -> None:
    function = getattr(module, ABSENT)
    assert function.__name__ == ABSENT
    assert "not implemented here" in function.__doc__
    with pytest.raises(mx.MXNetError, match=f"operator {ABSENT} of MXNet 1.9.1 is not implemented") as caught:
        function(1, some=2)
    assert caught.value.clause == "contract/known-operator"
    assert "`refimpl ops`" in str(caught.value)


@pytest.mark.clause("contract/known-operator")
@pytest.mark.parametrize("module", [mx.nd._internal, mx.sym._internal])
def test_so_do_internal_operators(module: object) -> None:
    with pytest.raises(mx.MXNetError, match=ABSENT_INTERNAL):
        getattr(module, ABSENT_INTERNAL)()
    assert not hasattr(mx.nd, ABSENT_INTERNAL)


@pytest.mark.parametrize("package", [mx.nd, mx.sym])
def test_namespaces_hold_the_operators_that_bear_their_names(package: types.ModuleType) -> None:
    # x = mx.sym.Variable("x"); mx.sym.contrib.quadratic(x).name is "quadratic0" in MXNet 1.9.1
    assert package.contrib.quadratic.op is get("_contrib_quadratic")
    assert package.contrib.quadratic.__name__ == "quadratic"
    for namespace in ("contrib", "image", "linalg"):
        elsewhere = {"_contrib_boolean_mask"}  # a function, because its shape depends on values
        absent = [
            n for n in known_operators.names()
            if n.startswith(f"_{namespace}_") and n not in REGISTRY and n not in elsewhere
        ]
        for name in absent[:1]:
            with pytest.raises(mx.MXNetError, match=f"operator {name} .*is not implemented"):
                getattr(getattr(package, namespace), name.removeprefix(f"_{namespace}_"))(1)
        with pytest.raises(AttributeError, match="no_such_operator"):
            getattr(package, namespace).no_such_operator  # noqa: B018  # the access is the test


def test_a_node_made_in_a_namespace_bears_the_short_name() -> None:
    with mx.name.NameManager():
        made = mx.sym.contrib.quadratic(mx.sym.Variable("x"), a=1.0)
    assert made.name == "quadratic0"
    assert mx.sym.load_json(made.tojson()).list_outputs() == ["quadratic0_output"]
    assert mx.nd.contrib.quadratic(mx.nd.array([2.0]), a=1.0).asscalar() == 4.0


@pytest.mark.parametrize("module", [mx.nd, mx.sym, mx.nd.op, mx.sym.op, mx.nd._internal, mx.sym._internal])
def test_any_other_name_is_no_attribute(module: object) -> None:
    for name in ("no_such_operator", "_no_such_operator"):
        with pytest.raises(AttributeError, match=name):
            getattr(module, name)


@pytest.mark.clause("contract/known-operator")
def test_a_graph_that_holds_one_is_refused_when_it_is_loaded() -> None:
    text = '{"nodes": [{"op": "%s", "name": "x", "inputs": []}], "heads": [[0, 0, 0]]}'
    with pytest.raises(mx.MXNetError) as caught:
        mx.sym.load_json(text % ABSENT_INTERNAL)
    assert f"node 0 (x): operator {ABSENT_INTERNAL} of MXNet 1.9.1 is not implemented here" in str(caught.value)
    assert "`refimpl ops` lists what is" in str(caught.value)
    assert caught.value.clause == "contract/known-operator"
    with pytest.raises(mx.MXNetError, match=r"neither here nor in MXNet 1.9.1; did you mean Convolution") as caught:
        mx.sym.load_json(text % "Convolutoin")
    assert caught.value.clause == "contract/known-operator"


def test_an_alias_of_one_names_the_operator() -> None:
    aliases = [n for n, own in known_operators.names().items() if own != n and own not in REGISTRY]
    for name in aliases[:1]:
        assert f"another name of {known_operators.names()[name]}" in known_operators.explanation(name)


# --- refimpl ops ----------------------------------------------------------------------------------


def test_ops_shows_what_a_page_says_without_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["ops", "dot"]) == 0
    shown = capsys.readouterr().out
    for piece in (
        "page: kernels/dot.py", "devices: cpu, cuda", "gradient: loops, composition",
        "csr, default -> default (no transpose)", "names: dot, _sparse_dot", "products.product",
        "clauses: dot/axes", "types: float32, float64",
    ):
        assert piece in shown


def test_ops_of_an_operator_that_is_not_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["ops", ABSENT_INTERNAL]) != 0
    assert "is not implemented here" in "".join(capsys.readouterr())
    assert cli.run(["ops"]) == 0
    assert ABSENT_INTERNAL in capsys.readouterr().out


def test_a_page_is_read_into_clauses() -> None:
    page = operator_facts.page(get("FullyConnected"))
    assert page.summary == "out = data . weight^T + bias."
    assert [clause.name for clause in page.clauses][:2] == ["FullyConnected/flatten", "FullyConnected/weight-shape"]
    assert len(page.clauses[0].examples) == 2
    assert page.clauses[0].examples[0].splitlines() == [
        '>>> run("FullyConnected", [[[1, 2]], [[3, 4]]], [[1, 1]], [0], num_hidden=1)', "[[3.0], [7.0]]",
    ]
