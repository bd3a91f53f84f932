"""What other libraries call what wengert has: names that people bring along, and wengert's own."""

from __future__ import annotations

from .errors import UnknownName

_FORWARD = '`wg.jacobian(f, mode="forward")`'
_REVERSE = '`wg.jacobian(f, mode="reverse")`'
_PULLBACK = "`wg.pullback`: `y, back = wg.pullback(f, x)`, then `back(y_bar)`"
_PUSHFORWARD = "`wg.pushforward`: `y, push = wg.pushforward(f, x)`, then `push(x_dot)`"
_AT_A_POINT = "`wg.gradient(f, x)`, or `wg.grad(f)(x)`; nothing has to be marked before"
_HVP = "`wg.hvp`: `wg.hvp(f)(x, v)`"
_ELEMENTWISE = (
    "`wg.derivative(f)` of a function of one number, `wg.grad(lambda x: np.sum(f(x)))` of an array"
)
_RRULE = "`@wg.rrule(f)`, a rule beside the function"
_FRULE = "`@wg.frule(f)`, a rule beside the function"
_STOP = (
    "`wg.stop_gradient(x)`; a function that nobody differentiates has no derivative to switch off"
)
_FLATTEN = "`wg.flatten`: `vector, unflatten = wg.flatten(tree)`"
_TREE_MAP = "`wg.tree_map(fn, tree, *trees)`"
_CHECKPOINT = "`wg.checkpoint(f)`"
_CONTROL = "Python's own: loops, branches and recursion are differentiated as they are written"
_NUMPY = "NumPy itself: `import numpy as np`"
_CHECK = "`wg.testing.check_gradient(f, *args)`"

ELSEWHERE: dict[str, tuple[str, str]] = {
    "vjp": ("JAX", _PULLBACK),
    "jvp": ("JAX", _PUSHFORWARD),
    "linearize": ("JAX", _PUSHFORWARD),
    "jacfwd": ("JAX", _FORWARD),
    "jacrev": ("JAX", _REVERSE),
    "custom_vjp": ("JAX", _RRULE),
    "custom_jvp": ("JAX", _FRULE),
    "remat": ("JAX", _CHECKPOINT),
    "pmap": ("JAX", "`wg.over_parts(f, parts, executor)`, or `wg.vmap(f)` in one process"),
    "lax": ("JAX", _CONTROL),
    "scan": ("JAX", _CONTROL),
    "cond": ("JAX", _CONTROL),
    "while_loop": ("JAX", _CONTROL),
    "fori_loop": ("JAX", _CONTROL),
    "numpy": ("JAX", _NUMPY),
    "check_grads": ("JAX", _CHECK),
    "ravel_pytree": ("JAX", _FLATTEN),
    "tree": ("JAX", _TREE_MAP),
    "tree_util": ("JAX", _TREE_MAP),
    "tree_flatten": ("JAX", _FLATTEN),
    "elementwise_grad": ("autograd", _ELEMENTWISE),
    "egrad": ("autograd", _ELEMENTWISE),
    "deriv": ("autograd", "`wg.derivative(f)`"),
    "make_vjp": ("autograd", _PULLBACK),
    "make_jvp": ("autograd", _PUSHFORWARD),
    "make_hvp": ("autograd", _HVP),
    "make_ggnvp": ("autograd", "a pushforward and a pullback: `wg.pushforward`, `wg.pullback`"),
    "hessian_vector_product": ("autograd", _HVP),
    "hessian_tensor_product": ("autograd", _HVP),
    "vector_jacobian_product": ("autograd", _PULLBACK),
    "grad_and_aux": ("autograd", "`wg.grad(f, has_aux=True)`"),
    "multigrad_dict": ("autograd", '`wg.grad(f, ("a", "b"))`, by the names of the arguments'),
    "primitive": ("autograd", _RRULE),
    "defvjp": ("autograd", _RRULE),
    "defjvp": ("autograd", _FRULE),
    "autograd": ("PyTorch", _AT_A_POINT),
    "backward": ("PyTorch", _AT_A_POINT),
    "requires_grad": ("PyTorch", _AT_A_POINT),
    "no_grad": ("PyTorch", _STOP),
    "detach": ("PyTorch", _STOP),
    "func": ("PyTorch", "`wg.grad`, `wg.vmap`, `wg.jacobian` and their kin, at the top"),
    "vhp": ("PyTorch", _HVP),
    "gradcheck": ("PyTorch", _CHECK),
    "Function": ("PyTorch", _RRULE),
    "custom_gradient": ("TensorFlow", _RRULE),
    "GradientTape": ("TensorFlow", _AT_A_POINT),
    "batch_jacobian": ("TensorFlow", "`wg.vmap(wg.jacobian(f))`"),
    "map_fn": ("TensorFlow", "`wg.vmap(f)`"),
    "withgradient": ("Zygote", "`wg.value_and_grad(f)`"),
    "withjacobian": ("Zygote", "`wg.jacobian(f)`"),
    "ignore_derivatives": ("Zygote", _STOP),
    "njit": ("Numba", "`wg.jit(f)`"),
    "vectorize": ("Numba", "`wg.vmap(f)`"),
}
"""By their names: which library has each, and what to write instead."""


def unknown_name(name: str) -> AttributeError | None:
    """The error for a name that another library has; None where nothing is known of it.

    >>> print(unknown_name("hessian_vector_product").args[0].splitlines()[0])
    [WG220] wengert has no `hessian_vector_product`, which autograd has
    """
    if name not in ELSEWHERE:
        return None
    library, ours = ELSEWHERE[name]
    return UnknownName(
        f"wengert has no `{name}`, which {library} has",
        f'Here it is {ours}.\nThe page "From autograd, JAX and PyTorch" of the documentation has the two side by side.',
    )
