"""wengert differentiates the Python you already wrote."""

from .api import code_adjoint as code_adjoint
from .api import code_ir as code_ir
from .api import code_tangent as code_tangent
from .api import derivative as derivative
from .api import grad as grad
from .api import gradient as gradient
from .api import hvp as hvp
from .api import pullback as pullback
from .api import pushforward as pushforward
from .api import value_and_grad as value_and_grad
