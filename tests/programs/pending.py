"""Programs that wengert refuses so far: lists that may only shrink.

A program is on a list by its name, `theme.function`. `tests/test_corpus.py` fails when a program
is refused that is not here, and when one is here that is not refused any more; `pytest --update`
takes those off. What is not differentiated at all is on the first list only.
"""

GRADIENT = frozenset("""
    mutation.guarded_division
    mutation.cumulative_out
    mutation.views_and_copies
    mutation.list_of_rows
    mutation.history_of_one_array
    pde.heat_with_two_buffers
    pde.vibrating_string
    dynamic_programming.memo_in_a_default
    objects.machine_shop
    objects.gradient_penalty
    objects.sorted_by_tree
    objects.linked_list
    objects.user_iterator
    mutable_containers.reverse_polish
    mutable_containers.inventory
    mutable_containers.copies_deep_and_shallow
    control.assertions
    control.scaled_contexts
    control.sensitivity
    control.return_inside_with
    control.stacked_contexts
    control.round_robin
    control.secant_with_counted_calls
    control.expression_tree
    control.tiny_machine
    inference.langevin
""".split())  # fmt: skip
"""Not differentiated at all."""

FORWARD = frozenset("""
    mutable_containers.gini_coefficient
    mutable_containers.momentum_by_name
    mutable_containers.nearest_neighbours
    mutable_containers.transposed_in_place
    control.tree_of_dicts
    dynamic_programming.viterbi_path
    mutable_containers.descended
    mutable_containers.nested_records
    mutable_containers.running_median
    mutable_containers.slices_of_lists
    objects.controlled_tank
    objects.flight_of_the_given
    objects.objects_as_arguments
""".split())  # fmt: skip
"""In reverse mode, but not in forward mode."""

NESTED = frozenset("""
    dynamic_programming.forward_algorithm
    objects.controlled_tank
""".split())  # fmt: skip
"""Once, but not by a gradient within a gradient."""

HVP = frozenset("""
    dynamic_programming.viterbi_path
    mutable_containers.nearest_neighbours
    mutable_containers.running_median
    mutation.spring_assembly
    objects.controlled_tank
""".split())  # fmt: skip
"""Once, but without a Hessian–vector product."""

SPECIALISED = frozenset("""
    mutable_containers.sliding_maximum
    objects.heated_room
""".split())  # fmt: skip
"""But not when specialised."""

ALONE = frozenset("""
    control.every_clause
    control.flattened
    control.more_iterator_tools
    control.reraised
    control.tree_of_dicts
    control.walrus
    dynamic_programming.cached_coin_sums
    dynamic_programming.cached_lattice_walk
    engineering.bezier_length
    finance.rebalanced
    inference.decision_stumps
    inference.elo_ratings
    inference.expectation_maximisation
    inference.factorised_ratings
    linear_algebra.conjugate_gradients_on_lists
    linear_algebra.determinant_by_minors
    linear_algebra.elimination_on_lists
    linear_algebra.lu_solve
    mutable_containers.clipped_polygon
    mutable_containers.compressed_rows
    mutable_containers.fault_tree
    mutable_containers.nested_records
    mutable_containers.replaced_tuples
    mutable_containers.slices_of_lists
    mutable_containers.sliding_maximum
    mutation.aliased_then_rebound
    mutation.branch_writes
    mutation.flat_view
    mutation.group_by_two_names
    mutation.helper_mutates_its_argument
    mutation.output_buffers
    mutation.overlapping_slices
    mutation.put_and_putmask
    mutation.row_view
    mutation.strided_updates
    mutation.transposed_view
    mutation.trimmed_mean
    mutation.view_of_a_view
    objects.controlled_tank
    objects.flight_of_the_given
    objects.heated_room
    objects.matrix_class
    objects.mean_wait
    objects.n_bodies
    objects.objects_as_arguments
    objects.toda_chain
    pde.multigrid
    pde.red_black_sweeps
""".split())  # fmt: skip
"""But not by source that stands alone."""

WRONG = frozenset("""
    mutable_containers.gini_coefficient
    mutable_containers.momentum_by_name
    mutable_containers.transposed_in_place
    control.tree_of_dicts
    control.walrus
    dynamic_programming.cached_coin_sums
    dynamic_programming.cached_lattice_walk
    dynamic_programming.forward_algorithm
    inference.elo_ratings
    inference.factorised_ratings
    inference.langevin
    linear_algebra.conjugate_gradients_on_lists
    linear_algebra.determinant_by_minors
    linear_algebra.elimination_on_lists
    linear_algebra.lu_solve
    mutable_containers.clipped_polygon
    mutable_containers.descended
    mutable_containers.fault_tree
    mutable_containers.nearest_neighbours
    mutable_containers.nested_records
    mutable_containers.slices_of_lists
    mutable_containers.sliding_maximum
    mutation.aliased_then_rebound
    mutation.branch_writes
    mutation.group_by_two_names
    mutation.helper_mutates_its_argument
    mutation.put_and_putmask
    mutation.row_view
    mutation.spring_assembly
    objects.controlled_tank
    objects.flight_of_the_given
    objects.heated_room
    objects.objects_as_arguments
    objects.sorted_by_tree
    pde.multigrid
    pde.red_black_sweeps
""".split())  # fmt: skip
"""Those of the above that fail otherwise than by a refusal in some respect: the first to be mended."""
