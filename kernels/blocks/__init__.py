"""Faster twins of a few loops, for CUDA. Nothing here decides what a result is.

A twin names the loop that it replaces, ``PRODUCT.use_blocks(BlockTwin(product, ...))``; ``foundation/blocks.py``
tells what a twin is. It has the bits of the page's loop. ``REFIMPL_FAST=0`` or ``with mx.util.fast_road(False):`` turns
all of them off, and without this folder every loop runs as it reads.

To read: ``products``, then ``reductions``.
"""
