"""What generated code calls when it runs."""

from ..loading import later

__getattr__ = later(__name__, "arrays", "calls")
