"""Native code: IR → typed loop form → LLVM IR or C99 → machine code.

`lowering` turns a specialised function into the loop form of `loopform`; `looptext`, `llvm` and `ccode`
print that; `machine` compiles it. llvmlite is loaded with the first function that is compiled.
"""
