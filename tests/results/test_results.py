"""Results are frozen, print themselves, and come back from JSON as they were."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData, FitFailedWarning
from truerisk.core.tables import frame_of
from truerisk.results.results import RiskEstimate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = (X[:, 0] + RNG.normal(size=30) > 0).astype(int)


def curve(n_neighbors=(1, 3, 5), **more):
    grid = {"n_neighbors": n_neighbors}
    return tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv="3-fold", **more)


def failing_curve():
    with pytest.warns(FitFailedWarning):
        return curve((1, 3, 27), engine=tr.engines.Generic(error="warn"))


def same(a: RiskEstimate, b: RiskEstimate) -> None:
    for name in ("losses", "split_risks", "loss_rows", "splits"):
        one, two = getattr(a, name), getattr(b, name)
        assert (one is None) == (two is None), name
        assert one is None or (one.dtype.kind == two.dtype.kind), name
        assert one is None or np.array_equal(one, two, equal_nan=True), name
    assert a.to_dict() == b.to_dict()


@pytest.mark.parametrize("candidate", [0, 1, 2])
def test_an_estimate_comes_back_from_json(candidate) -> None:
    """Every field survives JSON, losses of failed fits (NaN) included."""
    estimate = failing_curve()[candidate]
    same(RiskEstimate.from_json(estimate.to_json()), estimate)
    json.loads(estimate.to_json(), parse_constant=pytest.fail)


def test_an_estimate_knows_its_splits() -> None:
    """Repetition, training and test rows of every split, of outer splits where it is nested."""
    five = tr.estimate_risk(KNeighborsClassifier(), X, Y, cv="2x4-fold")
    assert five.splits[:, 0].tolist() == [0] * 4 + [1] * 4
    assert (five.splits[:, 1] + five.splits[:, 2] == 30).all()
    assert five.splits[:4, 2].sum() == 30
    nested = tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=tr.methods.Nested("3-fold"))
    assert nested.splits[:, 1:].tolist() == [[20, 10]] * 3
    assert tr.estimate_risk(KNeighborsClassifier(), X, Y, cv="complete").splits is None


def test_an_older_estimate_without_its_splits_comes_back() -> None:
    """Estimates stored before splits were kept have none."""
    stored = curve()[0].to_dict()
    del stored["splits"]
    assert RiskEstimate.from_dict(stored).splits is None


def test_a_failed_candidate_has_no_value_and_a_note() -> None:
    """Value is None, never NaN, and the note names the split."""
    failed = failing_curve()[2]
    assert failed.value is None
    assert (failed.std_error, failed.interval) == (None, None)
    assert "3 of 3 fits failed" in failed.notes[0]
    assert str(failed).startswith("risk no value")


@pytest.mark.parametrize("content", [{}, {"schema": "other/1"}, [], {"schema": None}])
def test_a_foreign_file_is_no_estimate(content) -> None:
    """What is no estimate is refused by its schema."""
    with pytest.raises(BadData, match="not of truerisk"):
        RiskEstimate.from_dict(content)


def test_a_cut_file_is_refused() -> None:
    """The field that is lacking is named."""
    content = curve()[0].to_dict()
    del content["seed"]
    with pytest.raises(BadData, match="they lack 'seed'"):
        RiskEstimate.from_dict(content)


def test_results_are_frozen() -> None:
    """A number cannot be changed after the fact."""
    with pytest.raises(FrozenInstanceError):
        curve()[0].value = 0.0


def test_a_curve_is_the_sequence_of_its_estimates() -> None:
    """Length, items, iteration, values and the chosen one agree."""
    found = curve()
    assert len(found) == 3
    assert [e.value for e in found] == found.values.tolist()
    assert [e.std_error for e in found] == found.std_errors.tolist()
    assert [e.params for e in found] == list(found.candidates)
    assert found.best_params == found.candidates[int(found.values.argmin())]
    frame = found.to_frame()
    assert frame["value"].tolist() == found.values.tolist()
    assert frame["chosen"].tolist() == [c == found.best for c in range(3)]
    assert frame["n_neighbors"].tolist() == [1, 3, 5]
    content = json.loads(found.to_json())
    assert [e["value"] for e in content["estimates"]] == found.values.tolist()
    assert str(found).count("<- chosen") == 1
    assert found._repr_html_().count("chosen") == 1


def test_what_is_printed_is_escaped() -> None:
    """A parameter that is HTML shows as text."""
    common = curve()[0]
    content = common.to_dict() | {"params": {"x": "<script>"}, "notes": ["<b>"]}
    html = RiskEstimate.from_dict(content)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<b>" not in html


def test_a_frame_has_the_columns_given() -> None:
    """Columns and None cells go into a frame."""
    frame = frame_of({"a": [1, 2], "b": [None, "x"]})
    assert list(frame.columns) == ["a", "b"]


def test_the_papers_name_the_origin() -> None:
    """Seed, fingerprints, engine and versions are in every estimate; same seed, same papers."""
    one, two = curve()[0], curve()[1]
    other = curve(random_state=1)[0]
    assert one.data_fingerprint == two.data_fingerprint == other.data_fingerprint
    assert one.plan_fingerprint == two.plan_fingerprint != other.plan_fingerprint
    assert one.engine in tr.engines.names()
    assert (one.seed, other.seed) == (0, 1)
    assert {"truerisk", "numpy", "sklearn"} <= set(one.versions)


@pytest.mark.parametrize(
    ("place", "error", "sentence"),
    [
        (2, IndexError, "the curve has 2 settings, from 0 on"),
        ("x", TypeError, "give the number of one setting, from 0 to 1"),
        (slice(0, 1), TypeError, "give the number of one setting"),
    ],
)
def test_a_curve_has_numbered_settings(place, error, sentence):
    """What is no number of a setting is refused; numbers count from the end, too."""
    X, y = tr.datasets.make_simple(20, random_state=0)
    curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, X, y, cv="2-fold")
    assert curve[-1].params == {"n_neighbors": 3}
    with pytest.raises(error, match=sentence):
        curve[place]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"value": "0.1"}, "'value' is \"0.1\", not a number"),
        ({"split_risks": [0.1, "a"]}, r"'split_risks\[1\]' is \"a\""),
        ({"interval": {"low": 0, "high": 1, "other": 2}}, "'interval' lacks 'method'"),
        ({"notes": 7}, "'notes' is 7, not an array"),
        ({"scores": []}, "'scores' is .*, not an object"),
    ],
)
def test_a_changed_file_is_refused(changed, message) -> None:
    """What it holds in the place of numbers is said."""
    content = curve()[0].to_dict() | changed
    with pytest.raises(BadData, match=message):
        RiskEstimate.from_dict(content)
