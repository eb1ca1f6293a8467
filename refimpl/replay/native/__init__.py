"""The part of the fast road that is written for LLVM: kernel calls made by machine code, in this thread or another."""
