"""The validation inside an assessment: that of `validate` on the same splits, and never a loss."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk.assessment.assess import Interrupted
from truerisk.core.progress import listen
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData

X, Y, SAMPLES = drawn()
GRID = {"var_smoothing": [1e-9, 1e-1]}
LEARNERS = {"bayes": (GaussianNB(), GRID)}
SITE = {"site": np.arange(len(Y)) % 2}


@pytest.fixture(scope="module")
def found():
    """With everything that may be asked for."""
    words = {"subgroups": SITE, "samples": SAMPLES[:3], "positive": 0, "thresholds": [0.2, 0.5]}
    return tr.assess(LEARNERS, X, Y, cv=["4-fold"], validate=words)


def test_assessment_has_the_validation_of_the_same_search(found):
    """Number by number: the splits of an assessment of one learner are those of its search."""
    search = tr.HonestSearchCV(GaussianNB(), GRID, cv="4-fold").fit(X, Y)
    alone = tr.validate(
        search, X, Y, subgroups=SITE, samples=SAMPLES[:3], positive=0, thresholds=[0.2, 0.5]
    )
    inside = found.validation
    assert inside.risk.value == alone.risk.value == found.risks["bayes"].value
    np.testing.assert_array_equal(inside.held_out.answers, alone.held_out.answers)
    for name in ("discrimination", "calibration", "net_benefit", "subgroups", "stability"):
        one, other = (getattr(v, name).to_dict() for v in (inside, alone))
        assert json.dumps(one) == json.dumps(other), name


def test_assessment_writes_its_validation(found, tmp_path):
    """One more section, by the code of the page of a validation; nothing unless asked for."""
    written = json.loads(found.to_json(tmp_path / "a.json"))
    assert written["validation"]["calibration"] == found.validation.to_dict()["calibration"]
    assert written["no_validation"] is None
    assert "Validation of bayes" in str(found)
    page = found.to_html()
    assert 'id="validation-calibration"' in page
    assert 'href="#validation"' in page
    ids = [piece.split('"')[0] for piece in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    assert "Harrell FE (2015)" in page
    for words in (None, False):
        without = tr.assess(LEARNERS, X, Y, cv=["4-fold"], validate=words)
        assert (without.validation, without.no_validation) == (None, None)
        assert json.loads(without.to_json())["validation"] is None
        assert "Validation of" not in str(without)
        assert 'id="validation"' not in without.to_html()


def test_assessment_validates_the_best_learner():
    """Decision values have discrimination alone; True draws no bootstrap samples."""
    two = {"bad": GaussianNB(var_smoothing=1e6), "svm": LinearSVC()}
    found = tr.assess(two, X, Y, cv=["4-fold"], validate=True)
    assert found.best == "svm"
    assert set(found.validation.discrimination.measures) == {"auc", "average-precision"}
    numbers = tr.assess({"r": Ridge()}, X, X[:, 0] + X[:, 1] ** 2, validate=True, cv=["4-fold"])
    assert numbers.validation.held_out.response == "value"
    slope = numbers.validation.calibration["slope"]
    assert slope.corrected is None
    assert slope.interval is not None


def test_assessment_tells_why_there_is_no_validation():
    broken = tr.assess(
        {"lr": LogisticRegression()}, X, Y, cv=["4-fold"], scoring=_scored, validate=True
    )
    assert broken.validation is None
    assert "keeps no answers about single rows" in broken.no_validation
    assert broken.no_validation in str(broken)
    assert "no validation: " in broken.to_html()


def _scored(estimator, X, y):
    """A scorer, which says nothing of single rows."""
    return float((estimator.predict(X) == y).mean())


def test_assessment_interrupted_loses_the_validation_alone():
    def stop(progress):
        if progress.stage.startswith("validation"):
            raise KeyboardInterrupt

    words = {"replicates": 3}
    with listen(stop), pytest.raises(Interrupted, match="validation") as stopped:
        tr.assess(LEARNERS, X, Y, cv=["4-fold"], validate=words)
    assert stopped.value.partial.best == "bayes"
    assert stopped.value.missing == ("validation",)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ("yes", BadArgument, "validate='yes': give True, or words of tr.validate"),
        (["subgroups"], BadArgument, "validate="),
        (1, BadArgument, "validate=1"),
        ({"subgroup": "a"}, UnknownName, "no word 'subgroup'"),
        ({"n_jobs": 2}, UnknownName, "no word 'n_jobs'"),
        ({3: "a"}, UnknownName, "no word 3"),
        ({"replicates": -1}, BadArgument, "replicates=-1"),
        ({"subgroups": {"a": [1, 2]}}, BadData, "one level for each of 120 rows"),
    ],
)
def test_assessment_refuses_a_wrong_word_before_anything_is_fitted(given, error, said):
    with pytest.raises(error, match=said.replace("[", r"\[")):
        tr.assess({"never": _Never()}, X, Y, validate=given)


class _Never(GaussianNB):
    """Whose fit would be noticed."""

    def fit(self, X, y):
        raise AssertionError("fitted")
