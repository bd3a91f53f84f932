"""Forward mode: from a function to its pushforward, and that in two parts."""
