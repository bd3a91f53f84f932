"""The interpreter itself: its state, what one reading collects, the equations it emits, the guards it relies on."""
