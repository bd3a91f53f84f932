"""Other libraries' ways to call and to differentiate functions: loaded when one asks."""
