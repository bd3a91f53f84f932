"""Lists, dictionaries, sets, text and arrays: their items, their methods, writes into them."""

from ...loading import later

__getattr__ = later(
    __name__,
    "choosing",
    "container_methods",
    "in_place",
    "nameless_parts",
    "run_time_containers",
    "writes",
)
