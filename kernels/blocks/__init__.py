"""Faster twins of a few loops, for CUDA. Nothing here decides what a result is.

A page gives one to its loop, ``Loop(product, by_blocks=products.PRODUCT)``; ``foundation/blocks.py`` tells what it
is. It has the bits of the page's loop. ``REFIMPL_PLAIN_KERNELS=1`` or ``with plain_kernels():`` turns all of them off.

To read: ``products``, then ``convolutions``, which are products too, then ``reductions``.
"""
