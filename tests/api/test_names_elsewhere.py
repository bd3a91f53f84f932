"""Names that people bring along from other libraries."""

import re

import pages
import pytest
from error_texts import message, refusal

import wengert as wg
from wengert.names_elsewhere import ELSEWHERE

PAGE = pages.text_of(pages.ROOT / "docs/from-other-libraries.md")


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_name_of_another_library(name):
    library, ours = ELSEWHERE[name]
    error = refusal("WG220", AttributeError, lambda: getattr(wg, name))
    assert str(error) == message(
        "WG220",
        f"wengert has no `{name}`, which {library} has",
        None,
        f'Here it is {ours}.\nThe page "From autograd, JAX and PyTorch" of the documentation has the two side by side.',
    )


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_there_instead_is_there(name):
    for ours in re.findall(r"wg\.([\w.]+)", ELSEWHERE[name][1]):
        found = wg
        for part in ours.split("."):
            found = getattr(found, part)
        assert callable(found)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_page_has_it(name):
    assert re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE)


def test_the_names_that_are_asked_for_are_there():
    asked = "vjp jvp jacfwd jacrev elementwise_grad custom_vjp custom_jvp custom_gradient autograd"
    assert ELSEWHERE.keys() >= {*asked.split(), "hessian_vector_product"}


def test_a_name_that_nobody_has():
    with pytest.raises(AttributeError, match="module 'wengert' has no attribute 'gard'") as caught:
        wg.gard
    assert not isinstance(caught.value, wg.WengertError)
    assert caught.value.name == "gard"
    assert not hasattr(wg, "vjp")
    assert not hasattr(wg, "__wrapped__")
    assert getattr(wg, "jvp", None) is None
