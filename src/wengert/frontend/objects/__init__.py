"""Classes and their objects: how attributes and special methods are found, how objects are made and changed."""

from ...loading import later

__getattr__ = later(__name__, "class_attributes", "construct", "objects")
