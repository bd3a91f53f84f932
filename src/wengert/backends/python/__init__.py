"""The IR as readable Python, and as functions that run, debug and save like hand-written ones."""

from .printed import Printed as Printed
from .printed import render as render
from .publish import publish as publish
from .traceback import rethrow as rethrow
from .traceback import shown_at_user_lines as shown_at_user_lines
