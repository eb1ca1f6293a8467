"""Old addresses of pages of the site: each leads to where its page is now, with what stands after the #."""

from __future__ import annotations

MOVED = {
    "spec/ndarray": "spec/reference/arrays/ndarray",
    "spec/random": "spec/reference/arrays/random",
    "spec/sparse": "spec/reference/arrays/sparse",
    "spec/custom-operators": "spec/reference/arrays/custom-operators",
    "spec/symbol": "spec/reference/graphs/symbol",
    "spec/inference": "spec/reference/graphs/inference",
    "spec/gradient": "spec/reference/graphs/gradient",
    "spec/passes": "spec/reference/graphs/passes",
    "spec/control-flow": "spec/reference/graphs/control-flow",
    "spec/memory": "spec/reference/running/memory",
    "spec/executor": "spec/reference/running/executor",
    "spec/executor-2": "spec/reference/running/executor-mxnet-2",
    "spec/engine": "spec/reference/running/engine",
    "spec/autograd": "spec/reference/running/autograd",
    "spec/profiler": "spec/reference/running/profiler",
    "spec/slicing": "spec/reference/running/slicing",
    "spec/executor-group": "spec/reference/running/executor-group",
    "spec/data": "spec/reference/training/data",
    "spec/pictures": "spec/reference/training/image-record-iterators",
    "spec/images": "spec/reference/training/mx-image",
    "spec/metrics": "spec/reference/training/metrics",
    "spec/initializer": "spec/reference/training/initializer",
    "spec/optimizer": "spec/reference/training/optimizer-and-updater",
    "spec/optimizers": "spec/reference/training/optimizer-formulas",
    "spec/feed-forward": "spec/reference/training/feed-forward",
    "spec/module": "spec/reference/training/module",
    "spec/bucketing": "spec/reference/training/bucketing",
    "spec/sequential": "spec/reference/training/sequential",
    "spec/svrg": "spec/reference/training/svrg",
    "spec/rnn": "spec/reference/training/rnn",
    "spec/store": "spec/reference/stores/store",
    "spec/cluster": "spec/reference/stores/cluster",
    "spec/histories": "spec/reference/stores/histories",
    "spec/checkpoint": "spec/reference/files/checkpoint",
    "spec/formats": "spec/reference/files/formats",
    "spec/bring-your-script": "spec/reference/porting/bring-your-script",
    "spec/deviations": "spec/reference/porting/deviations",
    "spec/deviations-operators": "spec/reference/porting/deviations-operators",
    "spec/quirks": "spec/reference/porting/quirks",
    "spec/test-utils": "spec/reference/tools/test-utils",
    "spec/oracle": "spec/reference/tools/oracle",
    "spec/explain": "spec/reference/tools/explain",
    "spec/labs": "spec/reference/tools/labs",
    "spec/command-line": "spec/reference/tools/command-line",
    "spec/ops": "ops",
    "spec/findings": "spec/records/findings-mxnet",
    "spec/findings-libraries": "spec/records/findings-libraries",
    "spec/speed": "spec/records/speed",
    "spec/tutorials": "spec/records/tutorials",
}
"""Old document -> the document that it is now."""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{new} - refimpl</title><link rel="canonical" href="{there}">
<script>location.replace("{there}" + location.hash);</script>
<noscript><meta http-equiv="refresh" content="0; url={there}"></noscript></head>
<body><p>This page is <a href="{there}">{new}</a> now.</p></body></html>
"""


def leading_to(old: str, new: str) -> str:
    """The page at an old address: browsers go on to the new one, and a reader without scripts has a link."""
    return PAGE.format(new=new, there=f"{'../' * old.count('/')}{new}.html")
