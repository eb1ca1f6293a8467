"""Rules of operators on sequences: masks and attention."""

from __future__ import annotations

from .layers import Rule
from .site import Answer, Site, plain, tidy


def _masked(site: Site) -> Answer:
    p = site.p
    if not p.use_sequence_length:
        return plain(site, "{0}")
    return plain(site, f"sequence_mask({{0}}, {{1}}, {tidy(p.value)!r}, {p.axis})")


def _last(site: Site) -> Answer:
    p = site.p
    if not p.use_sequence_length:
        return plain(site, "{0}[-1]" if p.axis == 0 else "{0}[:, -1]")
    return plain(site, f"sequence_last({{0}}, {{1}}, {p.axis})")


def _reversed(site: Site) -> Answer:
    if not site.p.use_sequence_length:
        return plain(site, "{0}.flip(0)")
    return plain(site, "sequence_reverse({0}, {1})")


def _heads(text: str) -> Rule:
    return lambda site: plain(site, text, heads=int(site.p.heads))


SEQUENCES: dict[str, Rule] = {
    "SequenceMask": _masked, "SequenceLast": _last, "SequenceReverse": _reversed,
    "_contrib_interleaved_matmul_selfatt_qk": _heads("attention_scores(*split_heads({0}, {heads}, 3)[:2])"),
    "_contrib_interleaved_matmul_selfatt_valatt": _heads("attended({1}, split_heads({0}, {heads}, 3)[2], {heads})"),
    "_contrib_interleaved_matmul_encdec_qk": _heads(
        "attention_scores(split_heads({0}, {heads}, 1)[0], split_heads({1}, {heads}, 2)[0])"
    ),
    "_contrib_interleaved_matmul_encdec_valatt": _heads("attended({1}, split_heads({0}, {heads}, 2)[1], {heads})"),
}

__all__ = ["SEQUENCES"]
