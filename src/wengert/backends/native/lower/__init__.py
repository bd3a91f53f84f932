"""IR → loop form: blocks, branches, loops, fused loops over elements, what comes in."""
