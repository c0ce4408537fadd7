"""Every word of the room loads, and says what it loads."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from truerisk import datasets
from truerisk.core.errors import UnknownName

SHAPES = {
    "breast-cancer": (569, 30, 2),
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
    "digits": (1797, 64, 10),
    "diabetes": (442, 10, 0),
    "simple": (50, 2, 2),
    "difficult": (50, 2, 2),
    "highleyman": (50, 2, 2),
    "colon-2d": (50, 2, 2),
    "kearns": (50, 1, 2),
    "sparse-gaussian": (50, 20, 2),
    "four-class": (100, 21, 4),
    "field": (200, 4, 2),
    "daily-load": (730, 3, 0),
}
DOCUMENTS = ["colon", "yeast", "satellite", "a1a", "ovarian", "ozone"]  # test_documents.py
DOCUMENTS += ["ozone-level", "spam"]


def test_the_words_are_those_tested_here() -> None:
    """A new word needs its line here."""
    assert datasets.names() == [*SHAPES, *DOCUMENTS]


@pytest.mark.parametrize("name", SHAPES)
def test_a_word_loads_its_data(name: str) -> None:
    """X, y, names and classes have the stated sizes and fit one another."""
    bundle = datasets.load(name)
    n, p, n_classes = SHAPES[name]
    assert bundle.name == name
    assert bundle.X.shape == (n, p)
    assert bundle.X.dtype == np.float64
    assert np.isfinite(bundle.X).all()
    assert len(bundle.y) == n
    assert len(set(bundle.feature_names)) == p
    assert len(bundle.class_names) == n_classes
    assert bundle.task == ("classification" if n_classes else "regression")
    if n_classes:
        assert np.unique(bundle.y).tolist() == list(range(n_classes))
    assert bundle.description
    assert bundle.source


@pytest.mark.parametrize("name", SHAPES)
def test_the_table_of_words_tells_the_sizes(name: str) -> None:
    """The sentence in the registry has the number of rows, and the Bayes risk where it is known."""
    line = datasets.registry[name]
    assert f"{SHAPES[name][0]} rows" in line.about
    risk = getattr(line.load(), "bayes_risk", None)
    assert risk is None or f"{risk:.4f}".lstrip("0").replace("1.0000", "1") in line.about


def test_two_loads_are_equal() -> None:
    """A generator's word gives the same draw each time."""
    np.testing.assert_array_equal(datasets.load("simple").X, datasets.load("simple").X)


def test_an_unknown_word_names_the_closest() -> None:
    """A slip of the pen is answered with the word that was meant."""
    with pytest.raises(UnknownName, match=r"no data set 'brest-cancer'; did you mean 'breast-c"):
        datasets.load("brest-cancer")


def test_public_names_are_reached_and_others_are_not() -> None:
    """Every name of `__all__` is there; another is an AttributeError."""
    assert all(getattr(datasets, name) is not None for name in datasets.__all__)
    with pytest.raises(AttributeError, match=r"no attribute 'make_nothing'"):
        _ = datasets.make_nothing


def test_words_are_listed_without_scikit_learn() -> None:
    """Importing the rooms and printing their words imports neither scikit-learn nor scipy."""
    code = (
        "import sys; from truerisk import datasets, models; datasets.names(); models.names(); "
        "datasets.read_table; datasets.make_simple(4); "
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'sklearn', 'scipy', 'pandas'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
