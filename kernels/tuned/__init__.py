"""Faster float32 twins of a few loops, for the CPU. Nothing here decides what a result is.

A twin names the loop that it replaces, ``@twin(CONVOLVE, dtypes=FLOATS)``; pages know nothing of twins, and without
this folder every loop runs as it reads. The twin takes the same buffers and numbers and must agree with the loop:
exactly where sums and products are exact, elsewhere within the rounding of a fused multiply-add.
``REFIMPL_FAST=0`` or ``with mx.util.fast_road(False):`` turns all twins off, and so does ``NUMBA_DISABLE_JIT=1``,
because SIMD vectors exist only in machine code.

To read: ``simd`` (vectors and tiles), then ``gemm`` (the matrix product), then ``convolution``.
``elementary`` has polynomials in place of the C library's functions, ``curves`` and ``softmax`` are made of them; how
far they may be off stands there. ``streams`` draws the same random numbers as its page.
``depthwise`` and ``pooling`` have the bits of their pages: they compute sixteen planes in place of one.
``reductions``, ``extremes`` and ``rows`` have them too, in single and double precision.
So do ``sort`` and ``transpose``, which compute nothing. ``thin`` has the bits of ``gemm``, for products with a short
side. ``recurrent`` has those of its page, but for the curves.
"""
