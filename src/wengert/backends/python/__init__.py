"""The IR as readable Python, and as functions that run, debug and save like hand-written ones."""

from .printed import Printed as Printed
from .printed import joint_source as joint_source
from .printed import render as render
from .printed import render_together as render_together
from .publish import publish as publish
from .publish import with_options as with_options
