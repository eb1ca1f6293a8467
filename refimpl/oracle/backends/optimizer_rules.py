"""Rules of optimizers as formulas in any library's functions, which it gives under NumPy's names.

``RULES`` maps a name to ``(rule, defaults)``; ``rule(step, w, gradient)`` returns the new weight. A rule reads its
state with ``step.old(name, w)``, zeros at first, and writes it with ``step.keep(name, value)``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Any

import numpy as np


class Step:
    """One step of one weight: ``p`` are the parameters, ``t`` the number of this update, from 1."""

    def __init__(self, xp: Any, given: dict[str, Any], lr: float, wd: float, t: int, state: dict[str, Any]) -> None:
        self.xp, self.p, self.lr, self.wd, self.t, self.state = xp, given, lr, wd, t, state
        self.first: dict[str, Any] = {}

    def old(self, name: str, like: Any) -> Any:
        """A state; zeros like ``like`` the first time."""
        return self.state[name] if name in self.state else self.xp.zeros_like(like)

    def keep(self, name: str, value: Any) -> Any:
        """Keep and return a value."""
        self.state[name] = value
        return value

    def before(self, name: str, weight: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """The state of rows that no step has updated: zeros, or the weight for a rule that remembers it."""
        if name == "previous":
            return weight
        width = tuple(self.state[name].shape[1:])
        return np.zeros((shape[0], *width), weight.dtype) if shape else np.zeros((), weight.dtype)

    def bounded(self, g: Any) -> Any:
        """The gradient within ``clip_gradient``."""
        bound = self.p["clip_gradient"]
        return g if bound is None else self.xp.clip(g, -bound, bound)

    def plain(self, gradient: Any) -> Any:
        """The gradient, rescaled and clipped."""
        return self.bounded(gradient * self.p["rescale_grad"])

    def decayed(self, w: Any, gradient: Any) -> Any:
        """The gradient, rescaled, with the decay in it, and then clipped."""
        return self.bounded(gradient * self.p["rescale_grad"] + self.wd * w)

    def averages(self, g: Any, *, single: bool = False) -> tuple[Any, Any]:
        """Averages of gradients and of their squares; with ``single``, of shares in single precision."""
        b1, b2 = (float(np.float32(b)) if single else b for b in (self.p["beta1"], self.p["beta2"]))
        m = self.keep("m", b1 * self.old("m", g) + (1 - b1) * g)
        return m, self.keep("v", b2 * self.old("v", g) + (1 - b2) * (g * g))


Rule = Callable[[Step, Any, Any], Any]


def _sgd(s: Step, w: Any, gradient: Any) -> Any:
    g = s.plain(gradient)
    if not s.p["momentum"]:
        return (1 - s.lr * s.wd) * w - s.lr * g
    return w + s.keep("m", s.p["momentum"] * s.old("m", w) - s.lr * s.wd * w - s.lr * g)


def _nag(s: Step, w: Any, gradient: Any) -> Any:
    move = s.lr * (s.plain(gradient) + s.wd * w)
    if not s.p["momentum"]:
        return w - move
    return w + s.p["momentum"] * s.keep("m", s.p["momentum"] * s.old("m", w) - move) - move


def _signum(s: Step, w: Any, gradient: Any) -> Any:
    momentum = s.p["momentum"]
    if not momentum:
        return (1 - s.lr * (s.wd + s.p["wd_lh"])) * w - s.lr * s.xp.sign(gradient * s.p["rescale_grad"])
    m = s.keep("m", momentum * s.old("m", w) - (1 - momentum) * (s.plain(gradient) + s.wd * w))
    return (1 - s.lr * s.p["wd_lh"]) * w + s.lr * s.xp.sign(m)


def _dcasgd(s: Step, w: Any, gradient: Any) -> Any:
    g = s.plain(gradient)
    previous = s.state.get("previous", w)
    move = s.lr * (g + s.wd * w + s.p["lamda"] * (g * g) * (w - previous))
    s.keep("previous", w)
    if not s.p["momentum"]:
        return w - move
    return w + s.keep("m", s.p["momentum"] * s.old("m", w) - move)


def _adagrad(s: Step, w: Any, gradient: Any) -> Any:
    g = s.plain(gradient)
    h = s.keep("h", s.old("h", w) + g * g)
    return w - s.lr * (g / s.xp.sqrt(h + s.p["eps"]) + s.wd * w)


def _groupadagrad(s: Step, w: Any, gradient: Any) -> Any:
    g = s.plain(gradient)
    mean = s.xp.reshape(s.xp.sum(g * g, axis=1), (-1, 1)) / g.shape[1]
    h = s.keep("h", s.old("h", mean) + mean)
    return w - s.lr * g / s.xp.sqrt(h + s.p["eps"])


def _adadelta(s: Step, w: Any, gradient: Any) -> Any:
    g, rho, epsilon = s.plain(gradient), s.p["rho"], s.p["epsilon"]
    large = s.keep("G", rho * s.old("G", w) + (1 - rho) * (g * g))
    d = s.xp.sqrt(s.old("D", w) + epsilon) / s.xp.sqrt(large + epsilon) * g
    s.keep("D", rho * s.old("D", w) + (1 - rho) * (d * d))
    return w - d - s.wd * w


def _rmsprop(s: Step, w: Any, gradient: Any) -> Any:
    g, stays = s.decayed(w, gradient), s.p["gamma1"]
    n = s.keep("n", stays * s.old("n", w) + (1 - stays) * (g * g))
    if s.p["centered"]:
        a = s.keep("a", stays * s.old("a", w) + (1 - stays) * g)
        root = s.xp.sqrt(n - a * a + s.p["epsilon"])
        new = w + s.keep("d", s.p["gamma2"] * s.old("d", w) - s.lr * g / root)
    else:
        new = w - s.lr * g / s.xp.sqrt(n + s.p["epsilon"])
    bound = s.p["clip_weights"]
    return s.xp.clip(new, -bound, bound) if bound else new


def _adam(s: Step, w: Any, gradient: Any) -> Any:
    m, v = s.averages(s.decayed(w, gradient), single=True)  # the operator takes them so: 1 - 0.999 is 0.00099998713
    rate = s.lr * (1 - s.p["beta2"] ** s.t) ** 0.5 / (1 - s.p["beta1"] ** s.t)
    return w - rate * m / (s.xp.sqrt(v) + s.p["epsilon"])


def _adamax(s: Step, w: Any, gradient: Any) -> Any:
    g, b1 = s.decayed(w, gradient), s.p["beta1"]
    m = s.keep("m", b1 * s.old("m", w) + (1 - b1) * g)
    u = s.keep("u", s.xp.maximum(s.p["beta2"] * s.old("u", w), s.xp.abs(g)))
    safe = s.xp.where(u == 0, s.xp.ones_like(u), u)
    return s.xp.where(u == 0, w, w - s.lr / (1 - b1 ** s.t) * m / safe)


def nadam_momentum(p: dict[str, Any], t: int) -> float:
    """Nadam's momentum of update ``t``."""
    return p["beta1"] * (1 - 0.5 * 0.96 ** (t * p["schedule_decay"]))


def _nadam(s: Step, w: Any, gradient: Any) -> Any:
    g = s.decayed(w, gradient)
    m, v = s.averages(g)
    now, ahead = nadam_momentum(s.p, s.t), nadam_momentum(s.p, s.t + 1)
    product = prod(nadam_momentum(s.p, t) for t in range(1, s.t + 1))
    along = (1 - now) / (1 - product) * g + ahead / (1 - product * ahead) * m
    return w - s.lr * along / (s.xp.sqrt(v / (1 - s.p["beta2"] ** s.t)) + s.p["epsilon"])


def _lamb(s: Step, w: Any, gradient: Any) -> Any:
    m, v = s.averages(s.plain(gradient), single=True)
    if s.p["bias_correction"]:
        b1, b2 = float(np.float32(s.p["beta1"])), float(np.float32(s.p["beta2"]))
        m, v = m / (1 - b1 ** s.t), v / (1 - b2 ** s.t)
    u = m / (s.xp.sqrt(v) + s.p["epsilon"]) + s.wd * w
    long, other = (s.xp.sqrt(s.xp.sum(each * each)) for each in (w, u))
    low, high = s.p["lower_bound"], s.p["upper_bound"]
    long = s.xp.clip(long, low or None, high or None) if low or high else long
    none = (long == 0) | (other == 0)
    ratio = s.xp.where(none, s.xp.ones_like(long), long / s.xp.where(none, s.xp.ones_like(other), other))
    return w - s.lr * ratio * u


def _ftrl(s: Step, w: Any, gradient: Any) -> Any:
    g = s.plain(gradient)
    n = s.old("n", w)
    more = s.keep("n", n + g * g)
    z = s.keep("z", s.old("z", w) + g - (s.xp.sqrt(more) - s.xp.sqrt(n)) / s.lr * w)
    large = (s.xp.sign(z) * s.p["lamda1"] - z) / ((s.p["beta"] + s.xp.sqrt(more)) / s.lr + s.wd)
    return s.xp.where(s.xp.abs(z) <= s.p["lamda1"], s.xp.zeros_like(w), large)


def _ftml(s: Step, w: Any, gradient: Any) -> Any:
    g, b1, b2 = s.decayed(w, gradient), s.p["beta1"], s.p["beta2"]
    v = s.keep("v", b2 * s.old("v", w) + (1 - b2) * (g * g))
    share = (1 - b1 ** s.t) / s.lr if s.lr else inf
    new = share * (s.xp.sqrt(v / (1 - b2 ** s.t)) + s.p["epsilon"])
    z = s.keep("z", b1 * s.old("z", w) + (1 - b1) * g - (new - b1 * s.old("d", w)) * w)
    return -z / s.keep("d", new)


def _test(s: Step, w: Any, gradient: Any) -> Any:
    return w + gradient * s.p["rescale_grad"]


ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
RULES: dict[str, tuple[Rule, dict[str, Any]]] = {
    "sgd": (_sgd, {"momentum": 0.0}), "ccsgd": (_sgd, {"momentum": 0.0}), "nag": (_nag, {"momentum": 0.0}),
    "signum": (_signum, {"momentum": 0.9, "wd_lh": 0.0}), "dcasgd": (_dcasgd, {"momentum": 0.0, "lamda": 0.04}),
    "adagrad": (_adagrad, {"eps": 1e-7}), "groupadagrad": (_groupadagrad, {"eps": 1e-5}),
    "adadelta": (_adadelta, {"rho": 0.9, "epsilon": 1e-5}),
    "rmsprop": (_rmsprop, {
        "gamma1": 0.9, "gamma2": 0.9, "epsilon": 1e-8, "centered": False, "clip_weights": None,
    }),
    "adam": (_adam, ADAM), "adamax": (_adamax, ADAM), "nadam": (_nadam, {**ADAM, "schedule_decay": 0.004}),
    "lamb": (_lamb, {
        **ADAM, "epsilon": 1e-6, "lower_bound": None, "upper_bound": None, "bias_correction": True,
    }),
    "ftrl": (_ftrl, {"lamda1": 0.01, "beta": 1.0}), "ftml": (_ftml, {**ADAM, "beta1": 0.6}), "test": (_test, {}),
}
"""Name -> the rule, and parameters of its own with their defaults."""
BASE_RATES = {"signum": 0.01, "rmsprop": 0.001, "adam": 0.001, "adamax": 0.002, "nadam": 0.001, "lamb": 0.001}
"""Rules with a learning rate of their own, which they give to a schedule too."""
