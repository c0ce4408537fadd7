"""A missing part of truerisk is named in one sentence."""

import pytest

from truerisk.core.errors import MissingBranch
from truerisk.core.registry import Line, check_present, is_present


def test_a_present_module_is_present():
    assert is_present("truerisk.methods.racing")
    check_present("truerisk.methods.racing")


@pytest.mark.parametrize(
    "module", ["truerisk.methods.divination", "truerisk.methods.divination.of_entrails"]
)
def test_a_missing_module_is_named_by_its_first_missing_package(module):
    assert not is_present(module)
    with pytest.raises(MissingBranch) as refused:
        check_present(module)
    assert str(refused.value) == (
        "this call needs truerisk.methods.divination, which is missing from this installation; "
        "install truerisk anew."
    )


def test_a_registry_names_the_missing_module_of_a_word():
    with pytest.raises(MissingBranch, match=r"needs truerisk\.methods\.divination,"):
        Line("truerisk.methods.divination:Tea", "reads leaves").load()
