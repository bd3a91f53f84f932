"""The second tier: a run of the user's own code, in boxes, with a tape of what it computes, reads and writes."""
