"""From a function and the kinds of its arguments to a derivative that is published, cached and guarded."""
