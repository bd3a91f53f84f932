"""IR → IR, for native code alone: what is run once, computed again, or not read at all."""
