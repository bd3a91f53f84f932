"""The IR as readable Python, and as functions that run, debug and save like hand-written ones."""

from .printed import (
    Printed as Printed,
    joint_source as joint_source,
    render as render,
    render_together as render_together,
)
from .publish import publish as publish, with_options as with_options
