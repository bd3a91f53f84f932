"""Source text and syntax trees: where functions are written, which names they bind, what can be said without values."""

from ...loading import later

__getattr__ = later(__name__, "liveness")
