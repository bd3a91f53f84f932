"""Which op a run-time value is asked for, and on which numbers beside floats and arrays ops compute."""
