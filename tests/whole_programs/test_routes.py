"""Which way every program of the corpus takes: `tests/golden/routes.txt`, by `--update` anew.

A change that moves a program from one way to another shows in the file.
"""

import copy

import pytest
from places import TESTS
from programs import PROGRAMS

from wengert.compile import calling, engine
from wengert.errors import WengertError
from wengert.ops.program.refusals import REFUSALS

ROUTES = TESTS / "golden" / "routes.txt"
THEMES = sorted({program.theme for program in PROGRAMS})


def route(function, args):
    """By the kinds of the arguments, recorded, or the code of an error."""
    try:
        engine.read(calling.call_of(function, args, {}))
    except REFUSALS:
        return "recorded"
    except WengertError as error:
        return error.code
    return "kinds"


def routes_of(theme):
    return {
        program.name: route(program.function, copy.deepcopy(program.points[0]))
        for program in PROGRAMS
        if program.theme == theme
    }


@pytest.mark.parametrize("theme", THEMES)
def test_routes(theme, update):
    kept = (
        dict(line.split(": ", 1) for line in ROUTES.read_text().splitlines())
        if ROUTES.exists()
        else {}
    )
    found = routes_of(theme)
    if update:
        merged = {**kept, **found}
        ROUTES.write_text("".join(f"{name}: {merged[name]}\n" for name in sorted(merged)))
        return
    assert found == {name: way for name, way in kept.items() if name.startswith(f"{theme}.")}
