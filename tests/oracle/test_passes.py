"""Libraries that differentiate: many programs in one compiled function, with a library of a few lines."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.oracle import search
from refimpl.oracle.backends import Refused, Unsupported
from refimpl.oracle.backends.optimizing import WithOptimizers
from refimpl.oracle.backends.passes import Packed, alone
from refimpl.oracle.explaining.shrinking import shrink
from refimpl.oracle.judging.comparing import answers_of, judge_answer
from refimpl.oracle.numbering import program_of


class Var:
    """A value, and how the gradient of each value that it was made of follows from its own."""

    def __init__(self, value, parents=()):
        self.value, self.parents = value, parents


RULES = {
    "negative": lambda p, x: Var(-x.value, [(x, lambda g: -g)]),
    "relu": lambda p, x: Var(np.maximum(x.value, 0), [(x, lambda g: g * (x.value > 0))]),
    "square": lambda p, x: Var(x.value * x.value, [(x, lambda g: g * 2 * x.value)]),
    "elemwise_add": lambda p, a, b: Var(a.value + b.value, [(a, lambda g: g), (b, lambda g: g)]),
    "_mul_scalar": lambda p, x: Var(x.value * np.float32(p.scalar), [(x, lambda g: g * np.float32(p.scalar))]),
}


class Compiler:
    """Counts functions and their calls; fails where ``bad(value)`` holds for a variable."""

    def __init__(self, bad=None):
        self.functions, self.calls, self.bad = 0, 0, bad

    def __call__(self, evaluate):
        self.functions += 1

        def run(wanted, fixed, heads):
            self.calls += 1
            values = {name: Var(value) for name, value in {**wanted, **fixed}.items()}
            if self.bad is not None and any(self.bad(v.value) for v in values.values()):
                raise RuntimeError("the compiler fails")
            outputs = evaluate(values)
            slopes = {}
            for out, head in zip(outputs, heads or (), strict=heads is not None):
                self.back(out, np.ones_like(out.value) if head is None else head, slopes)
            found = {name: slopes[id(values[name])] for name in wanted if id(values[name]) in slopes}
            return [out.value for out in outputs], found

        return run

    def back(self, node, g, slopes):
        slopes[id(node)] = slopes[id(node)] + g if id(node) in slopes else g
        for parent, pull in node.parents:
            self.back(parent, pull(g).astype(np.float32), slopes)


def drawn(count, capabilities):
    return [program_of(1, i, capabilities, level=2) for i in range(count)]


def same(ours, theirs):
    return ours.keys() == theirs.keys() and all(np.array_equal(ours[key], theirs[key]) for key in ours)


@pytest.mark.clause("oracle/packs")
def test_a_pack_answers_each_program_as_it_is_answered_alone():
    one_by_one, compiler = alone(RULES, Compiler()), Compiler()
    packed = Packed(RULES, compiler, 8)
    programs = drawn(40, packed.capabilities)
    answers = packed.run_many(programs)
    assert [judge_answer(p, a).status for p, a in zip(programs, answers, strict=True)] == ["passed"] * 40
    assert all(same(a, b) for a, b in zip(answers, answers_of(one_by_one, programs), strict=True))
    assert compiler.functions < 20


@pytest.mark.clause("oracle/packs")
def test_an_error_in_a_pack_is_that_of_one_program():
    bad = (2, 3)
    compiler = Compiler(lambda value: value.shape == bad)
    packed = Packed(RULES, compiler, 8)
    programs = drawn(60, packed.capabilities)
    answers = packed.run_many(programs)
    hit = [any(tuple(spec["shape"]) == bad for spec in p["arrays"].values()) for p in programs]
    assert 0 < sum(hit) < 20
    for program, answer, is_hit in zip(programs, answers, hit, strict=True):
        if is_hit:
            assert isinstance(answer, Refused)
            assert "RuntimeError: the compiler fails" in str(answer)
        else:
            assert judge_answer(program, answer).status == "passed"
    with pytest.raises(Refused, match="the compiler fails"):
        packed.run(programs[hit.index(True)])


def steps_twice(shape=(2,)):
    forward = {"do": "forward", "arrays": {"a": {"shape": list(shape), "dtype": "float32", "elements": [1.0, 2.0]}}}
    return {
        "version": 1, "level": 2, "heads": [[1, 0]],
        "nodes": [{"op": "null", "name": "a"}, {"op": "square", "name": "n", "inputs": [[0, 0]], "attrs": {}}],
        "arrays": {"a": {"shape": list(shape), "dtype": "float32", "elements": [3.0, 4.0]}},
        "steps": [{"do": "bind", "requirements": {"a": "write"}}, {"do": "forward"}, forward, {"do": "backward"}],
    }


def test_passes_of_one_form_are_calls_of_one_function():
    compiler = Compiler()
    answer = Packed(RULES, compiler, 8).run(steps_twice())
    assert [answer["1/output0"].tolist(), answer["2/output0"].tolist()] == [[9, 16], [1, 4]]
    assert answer["3/gradient:a"].tolist() == [2, 4]
    assert (compiler.functions, compiler.calls) == (2, 3)


def test_what_the_check_refuses_is_not_compiled():
    def check(one):
        raise Unsupported("not here")

    compiler = Compiler()
    packed = Packed(RULES, compiler, 8, check)
    assert [type(answer) for answer in packed.run_many([steps_twice()] * 2)] == [Unsupported] * 2
    assert compiler.functions == 0


def test_an_operator_without_a_rule_is_unsupported():
    program = steps_twice()
    program["nodes"][1]["op"] = "exp"
    answers = Packed(RULES, Compiler(), 8).run_many([program, steps_twice()])
    assert isinstance(answers[0], Unsupported)
    assert answers[1]["1/output0"].tolist() == [9, 16]


class _NumPy:
    xp, array, numpy = np, staticmethod(np.array), staticmethod(np.asarray)

    @staticmethod
    def own(rule, given, life):
        """None: formulas."""


def test_level_5_runs_beside_packs():
    backend = WithOptimizers(Packed(RULES, Compiler(), 4), _NumPy())
    assert backend.pack == 4
    programs = [program_of(1, i, backend.capabilities, level=level) for i in range(4) for level in (2, 5)]
    statuses = [judge_answer(p, a).status for p, a in zip(programs, backend.run_many(programs), strict=True)]
    assert statuses == ["passed"] * 8
    assert not hasattr(WithOptimizers(alone(RULES, Compiler()), _NumPy()), "run_many")


def test_a_search_of_a_compiled_backend_shrinks_as_another_does():
    wrong = {**RULES, "relu": lambda p, x: Var(np.maximum(x.value, 0), [(x, lambda g: g * (x.value >= 0))])}
    found = [
        search(backend, seed=2, programs=64, most=1).found[0]
        for backend in (Packed(wrong, Compiler(), 8), alone(wrong, Compiler()))
    ]
    assert [str(each.cause) for each in found] == ["relu gradient of input 0 with write: zero is expected"] * 2
    assert found[0].program == found[1].program


def test_shrinking_prepares_the_next_programs():
    program, seen = steps_twice(), []
    small = shrink(program, lambda smaller: len(smaller["steps"]) > 2, ahead=3, prepare=seen.append)
    assert small == shrink(program, lambda smaller: len(smaller["steps"]) > 2)
    assert len(small["steps"]) == 3
    assert max(map(len, seen)) == 3
