"""The event: whichever class it is, the numbers are those of that class against the rest."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk.extend import Data
from truerisk.validation.outcomes import Event

X, Y, SAMPLES = drawn()
NAMES = np.where(Y == 1, "well", "ill")  # the event of the table is the first in order
THREE = np.where(X[:, 2] > 0.8, "c", NAMES)
SITE = np.arange(len(Y)) % 2


def numbers(found):
    """Every measure, the net benefits, and how far predictions move."""
    parts = (found.discrimination.measures, found.calibration.measures)
    told = [
        value
        for part in parts
        for one in part.values()
        for value in (one.honest, one.std_error, one.apparent, one.training, one.test)
    ]
    benefit = found.net_benefit
    moved = found.stability.predictions
    return np.array([*map(float, (t for t in told if t is not None)), *benefit.honest,
                     *benefit.low, moved.mape, *found.calibration.counts.ravel()])  # fmt: skip


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression(C=np.inf, tol=1e-10)])
def test_validate_of_the_first_class_is_that_of_turned_labels(model):
    given = {"samples": SAMPLES[:4], "subgroups": {"site": SITE}}
    found = tr.validate(model, X, Y, positive=0, **given)
    turned = tr.validate(model, X, 1 - Y, **given)
    np.testing.assert_allclose(numbers(found), numbers(turned), atol=1e-6)
    assert found.rows["event"] == 0
    assert found.rows["n_events"] == turned.rows["n_events"] == (Y == 0).sum()
    for one, other in zip(found.subgroups.risks, turned.subgroups.risks, strict=True):
        for a, b in zip(one.levels, other.levels, strict=True):
            assert a.subgroup.n_events == b.subgroup.n_events
            assert a.value == pytest.approx(b.value, abs=1e-9)


def test_validate_takes_the_second_class_unless_another_is_named():
    usual = tr.validate(GaussianNB(), X, NAMES, replicates=0)
    named = tr.validate(GaussianNB(), X, NAMES, replicates=0, positive="well")
    other = tr.validate(GaussianNB(), X, NAMES, replicates=0, positive="ill")
    np.testing.assert_array_equal(numbers(usual), numbers(named))
    assert f"event: well, in {(Y == 1).sum()} of {len(Y)} rows" in str(usual)
    assert f"event: ill, in {(Y == 0).sum()} of {len(Y)} rows" in str(other)
    assert other.calibration.event == other.net_benefit.event == "ill"
    found = tr.validate(LinearSVC(), X, Y, replicates=0, positive=0).discrimination
    turned = tr.validate(LinearSVC(), X, 1 - Y, replicates=0).discrimination
    for word in ("auc", "average-precision"):
        assert found[word].honest == pytest.approx(turned[word].honest)


def test_validate_holds_one_of_three_classes_against_the_rest():
    """Its probability as it is: slope and Brier score are those of the held-out column."""
    found = tr.validate(GaussianNB(), X, THREE, positive="c", samples=SAMPLES[:3])
    held = found.held_out
    assert held.answers.shape[1] == 3
    p, came = held.answers[:, 0], held.truth == 0
    assert found.calibration["brier"].honest == pytest.approx(np.mean((p - came) ** 2))
    own = GaussianNB().fit(X, THREE).predict_proba(X)[:, 0]
    apparent = np.mean((own - (THREE == "c")) ** 2)
    assert found.calibration["brier"].apparent == pytest.approx(apparent)
    assert found.calibration["brier"].n == 3
    assert found.rows["n_events"] == (THREE == "c").sum()
    assert found.stability.predictions.event == "c"
    treated = np.mean(np.where(p >= 0.2, came - ~came * 0.25, 0))
    at = np.argmin(np.abs(found.net_benefit.thresholds - 0.2))
    assert found.net_benefit.honest[at] == pytest.approx(treated)
    # The model of a sample that lacks a class could give no probability of it.
    lacking = np.resize(np.flatnonzero(THREE != "c"), len(Y))
    samples = np.vstack([lacking, SAMPLES[:2]])
    found = tr.validate(GaussianNB(), X, THREE, positive="well", samples=samples)
    assert found.calibration["brier"].n == 2
    assert found.notes[0].startswith("1 bootstrap samples do not count")
    nothing = tr.validate(GaussianNB(), X, THREE, positive="well", samples=samples[:1])
    assert "no bootstrap sample holds all 3 classes" in nothing.notes[0]


@pytest.mark.parametrize(
    ("y", "positive", "said"),
    [
        (2 - Y, None, True),  # 1 = ill, 2 = healthy
        ((2 - Y).astype(float), None, True),
        (2 - Y, 2, False),
        (Y, None, False),
        (2 * Y - 1, None, False),
        (Y == 1, None, False),
        (NAMES, None, False),
    ],
)
def test_validate_notes_the_order_of_two_numbers(y, positive, said):
    """Where it decides which class is the event, and that is neither 1 nor named."""
    found = tr.validate(GaussianNB(), X, y, positive=positive, replicates=0)
    least, greater = np.unique(y)
    whole = f"the event is {greater}, the greater of {least} and {greater}: "
    notes = [note for note in found.notes if note.startswith(whole)]
    assert len(notes) == said
    assert all("(positive=1" in note for note in notes)


def test_event_reads_every_answer():
    """Labels, probabilities and decision values of two outcomes; the usual event reads nothing."""
    data = Data.check(X, THREE, task="classification")
    event = Event.from_label("ill", data)
    codes = np.array([0, 1, 2], dtype=np.int8)
    code = int(np.flatnonzero(data.classes == "ill")[0])
    assert event.convert_values(codes, "label").tolist() == (codes == code).astype(int).tolist()
    p = np.array([[0.2, 0.3, 0.5]])
    assert event.convert_values(p, "probability").tolist() == [[1 - p[0, code], p[0, code]]]
    assert event.data.classes.tolist() == ["the rest", "ill"]
    assert Event.from_label(None, data) is None
    two = Data.check(X, Y, task="classification")
    assert Event.from_label(None, two).convert_values(p, "probability") is p


def test_validate_notes_that_ordered_categories_name_the_other_class():
    """Labels are sorted as text: 'severe' < 'slight', although y says slight < severe."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    labels = np.where(X[:, 0] + rng.standard_normal(80) > 0, "severe", "slight")
    for order, is_noted in ((["slight", "severe"], True), (["severe", "slight"], False)):
        y = pd.Series(pd.Categorical(labels, order, ordered=True))
        found = tr.validate(GaussianNB(), X, y, replicates=0)
        assert found.rows["event"] == "slight"
        assert any("positive='severe'" in note for note in found.notes) == is_noted
