"""Python source → IR: its modules about what few programs do are loaded with the first that does it."""

from ..loading import later

_LATER = frozenset(
    (
        "captures",
        "checkpoints",
        "choosing",
        "class_attributes",
        "construct",
        "container_methods",
        "contexts",
        "contexts_in_python",
        "dispatching",
        "equivalents",
        "exceptions",
        "generators",
        "in_place",
        "introspection",
        "iterator_loops",
        "iterators",
        "iterators_in_python",
        "library_modules",
        "library_copies",
        "library_objects",
        "library_records",
        "liveness",
        "local_classes",
        "nameless_parts",
        "objects",
        "ordinary_options",
        "outside",
        "purity",
        "records",
        "remembering",
        "run_time_containers",
        "separate",
        "sharing",
        "stand_ins",
        "walking",
        "writes",
        "writing_functions",
    )
)

__getattr__ = later(__name__, _LATER)
