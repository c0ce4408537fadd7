"""The check of public docstrings: what is public, and what counts as documented."""

import pytest
from tests.support import docstrings


@pytest.fixture(scope="module")
def public():
    """All public objects by the place of their source."""
    return docstrings.public_objects()


@pytest.mark.parametrize(
    "place",
    [
        "truerisk.estimation.estimate.estimate_risk",
        "truerisk.search.search.HonestSearchCV",
        "truerisk.search.search.HonestSearchCV.fit",
        "truerisk.search.tuned_model.TunedModel.predict",
        "truerisk.contracts.Method.plan",
        "truerisk.contracts.Method.name",
    ],
)
def test_public_objects_include_functions_classes_methods_and_properties(public, place):
    assert place in public


def test_public_objects_leave_out_private_names_and_what_a_base_class_documents(public):
    assert not [place for place in public if place.rpartition(".")[2].startswith("_")]
    assert "truerisk.methods.kfold.KFold" in public
    assert "truerisk.methods.kfold.KFold.plan" not in public


class Above:
    def told(self) -> int:
        """Return 1."""
        return 1

    def silent(self) -> int:
        return 1


class Below(Above):
    def told(self) -> int:
        return 2

    def silent(self) -> int:
        return 2


def test_is_documented_above_asks_the_base_classes():
    assert docstrings.is_documented_above(Below, "told")
    assert not docstrings.is_documented_above(Below, "silent")
    assert not docstrings.is_documented_above(Above, "told")


def codes_of(thing, *, is_member=False):
    return {error.split()[0] for error in docstrings.errors_of(thing, is_member=is_member)}


def test_errors_of_names_what_is_missing():
    def undocumented(a):
        return a

    def short(a):
        """Returns a"""  # noqa: D400
        return a

    assert codes_of(undocumented) == {"GL08"}
    assert codes_of(short) == {"SS03", "SS05", "PR01", "RT01", "SA01", "EX01"}
    assert codes_of(short, is_member=True) == {"SS03", "SS05", "PR01", "RT01"}


def test_errors_of_a_complete_function_are_none():
    def complete(a):
        """Return a.

        Parameters
        ----------
        a : int
            A number.

        Returns
        -------
        int
            The same number.

        See Also
        --------
        abs : Its absolute value.

        Examples
        --------
        >>> complete(1)
        1
        """
        return a

    assert codes_of(complete) == set()


def test_main_prints_what_an_incomplete_object_lacks(monkeypatch, capsys):
    found = {"truerisk.one": ["GL08 no docstring"]}
    monkeypatch.setattr(docstrings, "incomplete_objects", lambda: found)
    assert docstrings.main() == 1
    assert capsys.readouterr().out.startswith("truerisk.one\n    GL08 no docstring\n1 public")
