"""Rules of detectors: anchors, boxes, regions. Each is one helper function, which is written into the file."""

from __future__ import annotations

from .layers import Rule
from .site import Answer, Site, Unsupported, plain, tidy


def _floats(values: object) -> str:
    numbers = [repr(tidy(value)) for value in values]  # type: ignore[attr-defined]
    return f"({', '.join(numbers)}{',' * (len(numbers) == 1)})"


def _prior(site: Site) -> Answer:
    p = site.p
    return plain(
        site, f"multibox_prior({{0}}, {_floats(p.sizes)}, {_floats(p.ratios)}, {bool(p.clip)}, {_floats(p.steps)},"
        f" {_floats(p.offsets)})",
    )


def _detected(site: Site) -> Answer:
    p = site.p
    return plain(
        site, f"multibox_detection({{0}}, {{1}}, {{2}}, {bool(p.clip)}, {tidy(p.threshold)!r},"
        f" {tidy(p.nms_threshold)!r}, {bool(p.force_suppress)}, {_floats(p.variances)}, {p.nms_topk})",
    )


def _box_nms(site: Site) -> Answer:
    p = site.p
    site.only_first()
    if p.topk == 0:
        raise Unsupported("topk is 0")
    return plain(
        site, f"box_nms({{0}}, {tidy(p.overlap_thresh)!r}, {tidy(p.valid_thresh)!r}, {p.topk}, {p.coord_start},"
        f' {p.score_index}, {p.id_index}, {p.background_id}, {bool(p.force_suppress)}, "{p.in_format}",'
        f' "{p.out_format}")',
    )


def _proposal(site: Site) -> Answer:
    p = site.p
    text = (
        f"proposals({{0}}, {{1}}, {{2}}, {p.rpn_pre_nms_top_n}, {p.rpn_post_nms_top_n}, {tidy(p.threshold)!r},"
        f" {p.rpn_min_size}, {_floats(p.scales)}, {_floats(p.ratios)}, {p.feature_stride}, {bool(p.iou_loss)})"
    )
    if p.output_score:
        return plain(site, text, suffixes=["[0]", "[1]"])
    return plain(site, f"{text}[0]")


def _roi_pooling(site: Site) -> Answer:
    p = site.p
    return plain(site, f"roi_pooling({{0}}, {{1}}, {tuple(p.pooled_size)}, {tidy(p.spatial_scale)!r})")


def _roi_align(site: Site) -> Answer:
    p = site.p
    if p.position_sensitive:
        raise Unsupported("it is position-sensitive")
    return plain(
        site, f"roi_align({{0}}, {{1}}, {tuple(p.pooled_size)}, {tidy(p.spatial_scale)!r}, {p.sample_ratio},"
        f" {bool(p.aligned)})",
    )


def _psroi(site: Site) -> Answer:
    p = site.p
    return plain(
        site, f"psroi_pooling({{0}}, {{1}}, {tidy(p.spatial_scale)!r}, {p.output_dim}, {p.pooled_size},"
        f" {p.group_size or p.pooled_size})",
    )


DETECTION: dict[str, Rule] = {
    "_contrib_MultiBoxPrior": _prior, "_contrib_MultiBoxDetection": _detected, "_contrib_box_nms": _box_nms,
    "_contrib_Proposal": _proposal, "_contrib_MultiProposal": _proposal, "ROIPooling": _roi_pooling,
    "_contrib_ROIAlign": _roi_align, "_contrib_PSROIPooling": _psroi,
    "_contrib_box_iou": lambda site: plain(site, f'box_overlaps({{0}}, {{1}}, "{site.p.format}")'),
    "_contrib_box_decode": lambda site: plain(
        site, f'box_decode({{0}}, {{1}}, ({tidy(site.p.std0)!r}, {tidy(site.p.std1)!r}, {tidy(site.p.std2)!r},'
        f' {tidy(site.p.std3)!r}), {tidy(site.p.clip)!r}, "{site.p.format}")'
    ),
}

__all__ = ["DETECTION"]
