"""Loop form → LLVM IR or C99."""
