"""Programs that wengert refuses so far: lists that may only shrink.

A program is on a list by its name, `theme.function`. `tests/whole_programs/test_corpus.py` fails when a program
is refused that is not here, and when one is here that is not refused any more; `pytest --update`
takes those off. What is not differentiated at all is on the first list only.
"""

GRADIENT = frozenset("""
""".split())  # fmt: skip
"""Not differentiated at all."""

FORWARD = frozenset("""
""".split())  # fmt: skip
"""In reverse mode, but not in forward mode."""

NESTED = frozenset("""
""".split())  # fmt: skip
"""Once, but not by a gradient within a gradient."""

HVP = frozenset("""
""".split())  # fmt: skip
"""Once, but without a Hessian–vector product."""

SPECIALISED = frozenset("""
""".split())  # fmt: skip
"""But not when specialised."""

ALONE = frozenset("""
    calls.rest_arguments
    control.driven_generator
    control.lazy_evaluation
    control.managers_of_generators_in_a_stack
    control.one_desk
    control.reraised
    control.round_robin
    control.stacked_contexts
    control.states_by_name
    control.tree_of_dicts
    dynamic_programming.cached_coin_sums
    dynamic_programming.cached_lattice_walk
    dynamic_programming.memo_in_a_default
    linear_algebra.determinant_by_minors
    linear_algebra.jacobi_eigenvalues
    mutable_containers.all_pairs
    mutable_containers.clipped_polygon
    mutable_containers.copies_deep_and_shallow
    mutable_containers.grouped
    mutable_containers.inventory
    mutable_containers.median_deviation
    mutable_containers.shortest_path
    mutable_containers.slices_of_lists
    mutation.history_of_one_array
    mutation.list_of_rows
    mutation.output_buffers
    mutation.row_view
    mutation.rows_in_a_list
    objects.flight_of_the_given
    objects.gradient_penalty
    objects.linked_list
    objects.machine_shop
    objects.n_bodies
    objects.objects_as_arguments
    objects.sequence_protocol
    objects.sorted_by_tree
    objects.toda_chain
    objects.user_iterator
    simulations.genetic_search
    workshop.hermite_oscillator
    workshop.lisp
    workshop.refined
    workshop.shop
""".split())  # fmt: skip
"""But not by source that stands alone."""

IMPORTED = frozenset("""
""".split())  # fmt: skip
"""But specialised source does not stand alone: it names a class, and says to define it."""

WRONG = frozenset("""
""".split())  # fmt: skip
"""Those of the above that are not refused but end in an error that does not say so: to be mended first."""
