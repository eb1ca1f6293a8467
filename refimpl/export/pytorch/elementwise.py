"""Rules of operators that compute number by number, or over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.reduce import reduced_axes
from .layers import Rule
from .site import Answer, Site, Unsupported, plain, tidy, type_name

_SUFFIX = {"float16": ".half()", "float32": ".float()", "float64": ".double()"}


def _typed(kind: np.dtype) -> str:
    """What turns an array into one of the type."""
    return _SUFFIX.get(np.dtype(kind).name, f".to({type_name(kind)})")


def _text(template: str) -> Rule:
    return lambda site: plain(site, template)


UNARY = {
    **{name: f"torch.{name}({{0}})" for name in (
        "abs", "sqrt", "square", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "floor", "ceil", "trunc", "sign", "sigmoid", "erf", "erfinv", "reciprocal", "rsqrt", "zeros_like",
        "ones_like",
    )},
    **{f"arc{name}": f"torch.a{name}({{0}})" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "negative": "-{0}", "fix": "torch.trunc({0})", "relu": "F.relu({0})", "softsign": "F.softsign({0})",
    "degrees": "torch.rad2deg({0})", "radians": "torch.deg2rad({0})", "gammaln": "torch.lgamma({0})",
    "rint": "torch.ceil({0} - 0.5)", "round": "torch.sign({0}) * torch.floor(torch.abs({0}) + 0.5)",
    "cbrt": "torch.copysign(torch.abs({0}) ** (1 / 3), {0})",
    "rcbrt": "torch.copysign(torch.abs({0}) ** (-1 / 3), {0})",
    "BlockGrad": "{0}.detach()", "_copy": "{0}", "make_loss": "{0}", "_identity_with_attr_like_rhs": "{0}",
    "_copyto": "{0}", "_contrib_div_sqrt_dim": "{0} / {0}.shape[-1] ** 0.5", "MakeLoss": "{0}",
    "IdentityAttachKLSparseReg": "{0}", "_contrib_gradientmultiplier": "{0}",
}
ACTIVATIONS = {
    "relu": "F.relu({0})", "sigmoid": "torch.sigmoid({0})", "tanh": "torch.tanh({0})", "softsign": "F.softsign({0})",
    "softrelu": "F.softplus({0})",
}
_PAIRS = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "{0} / {1}", "power": "{0} ** {1}",
          "mod": "{0} % {1}", "maximum": "torch.maximum({0}, {1})", "minimum": "torch.minimum({0}, {1})",
          "hypot": "torch.hypot({0}, {1})"}
_TESTS = {"equal": "==", "not_equal": "!=", "greater": ">", "greater_equal": ">=", "lesser": "<", "lesser_equal": "<="}
_LOGIC = {"logical_and": "&", "logical_or": "|", "logical_xor": "^"}


def _scalar(template: str) -> Rule:
    def rule(site: Site) -> Answer:
        value = site.p.scalar
        whole = np.dtype(site.types[0]).kind in "iu"
        return plain(site, template, scalar=int(value) if whole and float(value).is_integer() else tidy(value))

    return rule


def _tested(template: str) -> Rule:
    def rule(site: Site) -> Answer:
        numbers: dict[str, Any] = {"scalar": tidy(site.p.scalar)} if "{scalar}" in template else {}
        return plain(site, f"({template}){_typed(site.output_types[0])}", **numbers)

    return rule


def _pair_rules() -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for name, text in _PAIRS.items():
        plain_name = f"elemwise_{name}" if name in ("add", "sub", "mul", "div") else f"_{name}"
        found |= {plain_name: _text(text), f"broadcast_{name}": _text(text)}
        scalar = {"add": "plus", "sub": "minus"}.get(name, name)
        if name in ("maximum", "minimum"):
            found[f"_{scalar}_scalar"] = _scalar("{0}.clamp(" + ("min" if name == "maximum" else "max") + "={scalar})")
            continue
        one = "torch.hypot({0}, torch.full_like({0}, {scalar}))" if name == "hypot" else text.replace("{1}", "{scalar}")
        found[f"_{scalar}_scalar"] = _scalar(one)
        turned = text.replace("{0}", "{scalar}").replace("{1}", "{0}")
        if name in ("sub", "div", "power", "mod"):
            turned = "torch.remainder(torch.full_like({0}, {scalar}), {0})" if name == "mod" else turned
            found[f"_r{scalar}_scalar"] = _scalar(turned)
    for name, sign in _TESTS.items():
        for key in (f"_{name}", f"broadcast_{name}"):
            found[key] = _tested(f"{{0}} {sign} {{1}}")
        found[f"_{name}_scalar"] = _tested(f"{{0}} {sign} {{scalar}}")
    for name, sign in _LOGIC.items():
        for key in (f"_{name}", f"broadcast_{name}"):
            found[key] = _tested(f"({{0}} != 0) {sign} ({{1}} != 0)")
        found[f"_{name}_scalar"] = _tested(f"({{0}} != 0) {sign} ({{scalar}} != 0)")
    return found | {"_grad_add": found["elemwise_add"], "logical_not": _tested("{0} == 0")}


def _reduced(template: str) -> Rule:
    def rule(site: Site) -> Answer:
        axes = reduced_axes(site.p, site.rank)
        keep = bool(site.p.keepdims)
        if not axes:
            return plain(site, "{0}")
        whole = len(axes) == site.rank and not keep
        axis = axes[0] if len(axes) == 1 else tuple(axes)
        text = template.replace("AXIS", str(axis)).replace("KEEP", ", keepdim=True" if keep else "")
        return plain(site, text + (".reshape(1)" if whole else ""))

    return rule


def _norm(site: Site) -> Answer:
    if site.p.out_dtype is not None:
        raise Unsupported(f"it has out_dtype {site.p.out_dtype}")
    return _reduced(f"torch.linalg.vector_norm({{0}}, {site.p.ord}, AXISKEEP)".replace("AXIS", "dim=AXIS"))(site)


def _product(site: Site) -> Answer:
    axes = sorted(reduced_axes(site.p, site.rank), reverse=True)
    keep = bool(site.p.keepdims)
    text = "{0}" + "".join(f".prod({axis}{', keepdim=True' if keep else ''})" for axis in axes)
    return plain(site, text + (".reshape(1)" if len(axes) == site.rank and not keep else ""))


def _extreme_index(name: str) -> Rule:
    def rule(site: Site) -> Answer:
        p = site.p
        if p.axis is None:
            whole = f".reshape({', '.join('1' * site.rank)})" if p.keepdims else ""
            return plain(site, f"{{0}}.flatten().{name}(0, keepdim=True){whole}{_typed(site.output_types[0])}")
        keep = ", keepdim=True" if p.keepdims else ""
        alone = ".reshape(1)" if site.rank == 1 else ""
        return plain(site, f"{{0}}.{name}({site.axis(p.axis)}{keep}){alone}{_typed(site.output_types[0])}")

    return rule


def _softmax(function: str, sign: str = "") -> Rule:
    def rule(site: Site) -> Answer:
        p, axis = site.p, site.p.axis
        cast = "" if getattr(p, "dtype", None) is None else _typed(np.dtype(p.dtype))
        data = f"{sign}{{0}}{cast}"
        if getattr(p, "temperature", None):
            data = f"{data} / {tidy(p.temperature)!r}"
        if len(site.shapes) > 1:
            if function != "softmax" or sign:
                raise Unsupported("it has lengths")
            return plain(site, f"softmax_of_length({data}, {{1}}, {{axis}})", axis=axis)
        return plain(site, f"F.{function}({data}, {{axis}})", axis=axis)

    return rule


def _clip(site: Site) -> Answer:
    return plain(site, "{0}.clamp({low}, {high})", low=tidy(site.p.a_min), high=tidy(site.p.a_max))


def _where(site: Site) -> Answer:
    rows = len(site.shapes[0]) == 1 < len(site.shapes[1])
    shape = ", ".join(["-1", *["1"] * (len(site.shapes[1]) - 1)])
    return plain(site, f"torch.where({{0}}.reshape({shape}) != 0, {{1}}, {{2}})" if rows else
                 "torch.where({0} != 0, {1}, {2})")


def _cast(site: Site) -> Answer:
    return plain(site, f"{{0}}{_typed(np.dtype(site.output_types[0]))}")


def _l2(site: Site) -> Answer:
    every = range(site.rank)
    axes: Any = {"channel": (1,), "instance": tuple(every[1:]), "spatial": tuple(every[2:])}[site.p.mode]
    axes = axes[0] if len(axes) == 1 else axes
    site.only_first()
    return plain(
        site, f"{{0}} / torch.sqrt({{0}}.square().sum({axes}, keepdim=True) + {{eps}})", eps=tidy(site.p.eps)
    )


def _local_response(site: Site) -> Answer:
    p, odd = site.p, site.p.nsize - 1 + site.p.nsize % 2
    site.only_first()
    data, back = ("{0}.unsqueeze(2)", ".squeeze(2)") if site.rank == 2 else ("{0}", "")
    return plain(
        site, f"F.local_response_norm({data}, {{size}}{{alpha}}{{beta}}{{k}}){back}", size=int(odd),
        alpha=[float(f"{tidy(p.alpha) * odd / p.nsize:.9g}"), 1e-4], beta=[tidy(p.beta), 0.75], k=[tidy(p.knorm), 1.0],
    )


def _smooth_l1(site: Site) -> Answer:
    return plain(site, 'F.smooth_l1_loss({0}, torch.zeros_like({0}), reduction="none", beta={beta})',
                 beta=1 / float(site.p.scalar) ** 2)


def _activation(site: Site) -> Answer:
    if site.p.act_type not in ACTIVATIONS:
        raise Unsupported(f"its act_type is {site.p.act_type}")
    return plain(site, ACTIVATIONS[site.p.act_type])


def _first(template: str) -> Rule:
    return lambda site: Answer(plain(site, template).forward, [0])


ELEMENTWISE: dict[str, Rule] = {
    **{name: _text(text) for name, text in UNARY.items()}, **_pair_rules(), "Activation": _activation,
    **{name: _first("{0}") for name in ("_identity_with_attr_like_rhs", "IdentityAttachKLSparseReg")},
    "sum": _reduced("{0}.sum(AXISKEEP)"), "mean": _reduced("{0}.mean(AXISKEEP)"), "max": _reduced("{0}.amax(AXISKEEP)"),
    "min": _reduced("{0}.amin(AXISKEEP)"), "nansum": _reduced("{0}.nansum(AXISKEEP)"), "norm": _norm, "prod": _product,
    "_square_sum": _reduced("{0}.square().sum(AXISKEEP)"), "argmax": _extreme_index("argmax"),
    "argmin": _extreme_index("argmin"), "argmax_channel": _text("{0}.argmax(1).float()"),
    "softmax": _softmax("softmax"), "log_softmax": _softmax("log_softmax"), "softmin": _softmax("softmax", "-"),
    "SoftmaxActivation": lambda site: plain(
        site, "F.softmax({0}, 1)" if site.p.mode == "channel" else "F.softmax({0}, -1)"
    ),
    "clip": _clip, "where": _where, "Cast": _cast, "amp_cast": _cast, "L2Normalization": _l2, "LRN": _local_response,
    "smooth_l1": _smooth_l1, "hard_sigmoid": lambda site: plain(
        site, "({alpha} * {0} + {beta}).clamp(0, 1)", alpha=tidy(site.p.alpha), beta=tidy(site.p.beta)
    ),
    "add_n": lambda site: plain(site, " + ".join(f"{{{index}}}" for index in range(len(site.shapes)))),
    "_contrib_quadratic": lambda site: plain(
        site, "{a} * {0} ** 2 + {b} * {0} + {c}", a=tidy(site.p.a), b=tidy(site.p.b), c=tidy(site.p.c)
    ),
}

__all__ = ["ELEMENTWISE"]
