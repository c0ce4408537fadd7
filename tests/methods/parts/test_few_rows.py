"""A squared loss that rests on a few rows is said to."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge

import truerisk as tr

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
NORMAL = X[:, 0] + RNG.normal(size=200)
HEAVY = X[:, 0] + RNG.standard_t(1.2, size=200)


def notes(y, **options):
    """What is said of few rows."""
    found = tr.estimate_risk(Ridge(), X, y, **options)
    return [note for note in found.notes if " of the squared loss: value" in note]


def test_it_is_said_of_heavy_tails_with_the_share() -> None:
    """Two of 200 rows, by the squared errors themselves."""
    found = tr.estimate_risk(Ridge(), X, HEAVY)
    top = np.sort(found.losses)[-2:].sum() / found.losses.sum()
    (note,) = notes(HEAVY)
    assert note.startswith(f"the 2 largest rows of 200 carry {top:.0%} of the squared loss")
    assert top > 1 / 3


def test_it_is_not_said_of_normal_errors_and_of_counts() -> None:
    """The largest of 200 squared normal errors has a twentieth; a count of errors has a bound."""
    assert not notes(NORMAL)
    found = tr.estimate_risk(tr.models.FisherClassifier(), X, HEAVY > 0)
    assert not any(" of the squared loss: value" in note for note in found.notes)


def test_a_weight_counts() -> None:
    """A row without weight carries nothing."""
    worst = np.argsort(tr.estimate_risk(Ridge(), X, HEAVY).losses)[-6:]
    weights = np.ones(200)
    weights[worst] = 1e-9
    assert notes(HEAVY)
    assert not notes(HEAVY, sample_weight=weights)


def test_the_page_and_the_search_say_it() -> None:
    """In the notes of the honest risk."""
    a = tr.assess({"ridge": (Ridge(), {"alpha": [0.1, 1.0]})}, X, HEAVY, methods=["5-fold"])
    assert any(" of the squared loss: value" in note for note in a.risks["ridge"].notes)
    assert " of the squared loss: value" in a.to_html()
