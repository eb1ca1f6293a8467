"""What of the fast road is written for LLVM: calls that machine code makes, in this thread or another."""
