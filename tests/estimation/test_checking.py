"""All verbs make the same checks, once for each call, and say the same of what they find."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.auditing.audit import audit
from truerisk.core.errors import BadArgument, FindingWarning, UnknownName
from truerisk.estimation import problem
from truerisk.results.finding import Finding, are_checks_on
from truerisk.results.results import RiskCurve, RiskEstimate

KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
TREE = DecisionTreeClassifier(random_state=0), {"max_depth": [4, 8]}
LDA = LinearDiscriminantAnalysis(), {"shrinkage": [0.1, 0.5], "solver": ["lsqr"]}
SCORING = {"zero-one": "accuracy", "auc": "roc_auc", "log": "neg_log_loss"}


def near_copies() -> tuple[np.ndarray, np.ndarray]:
    """Return forty patients, measured four times each with little noise; y is a coin for each."""
    rng = np.random.default_rng(0)
    patients = np.repeat(rng.normal(size=(40, 5)), 4, axis=0)
    y = np.repeat(rng.permutation(40) % 2, 4)
    order = rng.permutation(160)
    return (patients + 0.02 * rng.normal(size=patients.shape))[order], y[order]


def few_events() -> tuple[np.ndarray, np.ndarray]:
    """Return 300 rows, of which six have the event."""
    rng = np.random.default_rng(1)
    y = (np.arange(300) % 50 == 0).astype(int)
    return rng.normal(size=(300, 3)) + y[:, None], y


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    """Return two classes that overlap, so that a tree is sometimes sure and wrong."""
    return tr.datasets.make_simple(120, random_state=0)


def estimate(data: Any, learner: Any, loss: str, **options: Any) -> Any:
    """Estimate the risk of the learner without a grid."""
    return tr.estimate_risk(learner[0], *data, scoring=loss, **options)


def curve(data: Any, learner: Any, loss: str, **options: Any) -> Any:
    """Estimate the risk of every setting."""
    return tr.risk_curve(*learner, *data, scoring=loss, **options)


def search(data: Any, learner: Any, loss: str, **options: Any) -> Any:
    """Return the honest risk of a search, whose findings must be those of the search itself."""
    found = tr.HonestSearchCV(*learner, scoring=loss, **options).fit(*data)
    assert found.risk_.findings == found.findings_
    return found.risk_


def given_search(data: Any, learner: Any, loss: str, **options: Any) -> Any:
    """Return the same of a search of scikit-learn in the place of a grid."""
    grid = GridSearchCV(*learner, scoring=SCORING[loss], cv=3)
    found = tr.HonestSearchCV(grid, scoring=loss, **options).fit(*data)
    assert found.risk_.findings == found.findings_
    return found.risk_


def assess(data: Any, learner: Any, loss: str, **options: Any) -> Any:
    """Assess one learner."""
    return tr.assess({"it": learner}, *data, scoring=loss, **options)


def audited(data: Any, learner: Any, loss: str, **options: Any) -> Any:
    """Audit a fitted search of scikit-learn."""
    grid = GridSearchCV(*learner, scoring=SCORING[loss], cv=3).fit(*data)
    return audit(grid, *data, **options)


FACES = [estimate, curve, search, given_search, assess, audited]
CASES = {
    "near-copies": (near_copies, KNN, "zero-one"),
    "few-events": (few_events, LDA, "auc"),
    "infinite-loss": (overlapping, TREE, "log"),
}


def notes_of(result: Any) -> str:
    """Join the notes of the risks of a result."""
    if isinstance(result, tr.Assessment):
        return " ".join(note for learner in result.learners.values() for note in learner.risk.notes)
    if isinstance(result, RiskCurve):
        return " ".join(result[result.best].notes)
    return " ".join((result if isinstance(result, RiskEstimate) else result.honest).notes)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("code", CASES)
def test_checks_say_the_same_on_every_face(face, code):
    """Findings, notes, one warning, the printed result, its page and its JSON hold the finding."""
    make, learner, loss = CASES[code]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = face(make(), learner, loss)
    heard = [one for one in heard if issubclass(one.category, FindingWarning)]
    (said,) = [finding for finding in result.findings if finding.code == code]
    assert len(heard) == 1
    assert said.sentence in str(heard[0].message)
    assert heard[0].filename == __file__
    assert said.note in notes_of(result)
    assert f"[{code}]" in str(result)
    page = result.to_html()
    assert said.sentence.split(".")[0].replace("'", "&#39;") in page
    assert '<ul class="findings">' in page
    read = type(result).from_json(result.to_json())
    assert said in read.findings
    assert json.loads(result.to_json()) == json.loads(read.to_json())


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("code", ["near-copies", "few-events"])
def test_checks_can_be_switched_off(face, code):
    """With checks=False there is neither a finding nor a note nor a warning."""
    make, learner, loss = CASES[code]
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        result = face(make(), learner, loss, checks=False)
    assert code not in {finding.code for finding in result.findings}
    assert "give groups" not in notes_of(result)


@pytest.mark.parametrize("face", FACES)
def test_checks_find_nothing_in_independent_rows(face):
    """Rows that are drawn alone, with enough events and probabilities above 0, give no finding."""
    data = tr.datasets.make_simple(200, random_state=3)
    result = face(data, LDA, "log")
    codes = {finding.code for finding in result.findings}
    assert not codes & set(CASES)
    assert "infinite-loss" not in codes


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often rows are checked, and find copies each time."""
    calls: list[int] = []

    def found(data: Any, seed: int = 0) -> list[Finding]:
        calls.append(data.n_rows)
        return [Finding("near-copies", "Rows are copies.", "Give groups.")]

    monkeypatch.setattr(problem, "structure_findings", found)
    return calls


INNER = tr.HonestSearchCV(*KNN)
INSIDE = {
    "estimate": lambda X, y: tr.estimate_risk(INNER, X, y),
    "workers": lambda X, y: tr.estimate_risk(INNER, X, y, n_jobs=2),
    "bootstrap": lambda X, y: tr.estimate_risk(INNER, X, y, cv=tr.methods.Bootstrap(replicates=5)),
    "search": lambda X, y: tr.HonestSearchCV(INNER).fit(X, y),
    "assess": lambda X, y: tr.assess({"it": INNER}, X, y),
    "curves": lambda X, y: tr.assess({"it": KNN}, X, y, learning_curve="all"),
}


@pytest.mark.parametrize("name", INSIDE)
def test_checks_run_once_and_not_inside_fits(name, monkeypatch):
    """A search that is fitted inside another call makes no check; the call makes one."""
    calls = counted(monkeypatch)
    X, y = tr.datasets.make_simple(60, random_state=0)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        INSIDE[name](X, y)
    assert calls == [60]
    assert sum(issubclass(one.category, FindingWarning) for one in heard) == 1
    assert are_checks_on()


def permuted(X: Any, y: Any) -> Any:
    """Test by permuted labels."""
    return tr.permutation_test(INNER, X, y, n_permutations=19)


def by_size(X: Any, y: Any) -> Any:
    """Measure a learning curve."""
    return tr.learning_curve(INNER, X, y, sizes=[10, 20, 30, 40])


@pytest.mark.parametrize("verb", [permuted, by_size])
def test_checks_are_off_in_verbs_that_repeat(verb, monkeypatch):
    """Permuted labels and parts of the rows are not looked through."""
    calls = counted(monkeypatch)
    X, y = tr.datasets.make_simple(60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        verb(X, y)
    assert calls == []


def test_checks_refuse_what_is_no_flag():
    """A word or a number in the place of True is refused."""
    X, y = overlapping()
    with pytest.raises(BadArgument, match="checks='no'"):
        tr.estimate_risk(KNN[0], X, y, checks="no")
    with pytest.raises(BadArgument, match="checks=2"):
        tr.HonestSearchCV(*KNN, checks=2).fit(X, y)


def test_checks_of_a_search_are_told_without_an_outer_loop():
    """With outer=None the findings stand in findings_ and in the selected risk."""
    with pytest.warns(FindingWarning, match="near-copies"):
        found = tr.HonestSearchCV(*KNN, outer=None).fit(*near_copies())
    codes = [finding.code for finding in found.findings_]
    assert "near-copies" in codes
    assert "few-events" not in codes
    assert found.selected_risk_.findings == found.findings_
    assert found.findings_[0].remedy in found._repr_html_inner().replace("&#x27;", "'")


def test_finding_of_an_earlier_version_is_read_by_its_new_name():
    """The code of a result that was stored before is mapped."""
    kept = Finding("few-events", "x", "y")
    assert Finding("few-rows-of-a-class", "x", "y") == kept
    with pytest.warns(FindingWarning):
        found = estimate(few_events(), LDA, "auc")
    content = replace(found, findings=(kept,)).to_dict()
    content["findings"][0]["code"] = "few-rows-of-a-class"
    assert RiskEstimate.from_dict(content).findings == (kept,)


def test_result_without_findings_does_not_write_them():
    """Files of results without findings are as they were."""
    assert "findings" not in estimate(overlapping(), KNN, "zero-one").to_dict()


@pytest.mark.parametrize(
    "method", [None, "10-fold", "loo", "holdout", ".632+", "oob", "ncv", "bbc"]
)
def test_infinite_loss_has_no_interval_by_any_method(method):
    """Where a held-out row's own class had probability 0, value and clip are all there is."""
    X, y = overlapping()
    with pytest.warns(FindingWarning, match=r"Log\(clip="):
        risk = tr.estimate_risk(TREE[0], X, y, scoring="log", cv=method)
    assert (risk.std_error, risk.interval) == (None, None)
    assert "infinite-loss" in {finding.code for finding in risk.findings}
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        clipped = tr.estimate_risk(TREE[0], X, y, scoring="log-clip-0.001", cv=method)
    codes = [finding.code for finding in clipped.findings]
    assert "near-copies" not in codes
    assert "infinite-loss" not in codes
    assert clipped.std_error is not None or method == ".632+"


def test_infinite_loss_keeps_the_clipped_value_of_scikit_learn():
    """The value is that of scikit-learn's neg_log_loss on the same answers."""
    from sklearn.model_selection import KFold, cross_val_score

    X, y = overlapping()
    folds = KFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(TREE[0], X, y, cv=folds, scoring="neg_log_loss")
    with pytest.warns(FindingWarning):
        risk = tr.estimate_risk(TREE[0], X, y, cv=folds, scoring="neg_log_loss")
    assert risk.value == pytest.approx(scores.mean())
    assert risk.interval is None


def test_infinite_loss_of_a_score_leaves_the_risk_its_interval():
    """Of several scores the log loss alone loses its interval."""
    X, y = overlapping()
    with pytest.warns(FindingWarning):
        risk = tr.estimate_risk(TREE[0], X, y, scoring=["zero-one", "log", "brier"])
    assert risk.interval is not None
    assert risk.scores["brier"].interval is not None
    assert risk.scores["log"].interval is None


def test_infinite_loss_leaves_a_difference_without_interval():
    """The clipped values differ by a number that depends on the clip, and that is said."""
    X, y = overlapping()
    with pytest.warns(FindingWarning):
        a = tr.estimate_risk(TREE[0], X, y, scoring="log")
    b = tr.estimate_risk(LDA[0], X, y, scoring="log")
    for compared in (a - b, tr.compare(b, a), tr.compare(a, b, test="bayes")):
        assert abs(compared.value) == pytest.approx(abs(a.value - b.value))
        assert (compared.interval, compared.p_value, compared.test) == (None, None, "none")
        assert "clip=" in compared.notes[0]


def test_infinite_loss_leaves_the_rule_its_standard_error():
    """The rule 1-se chooses by the clipped losses, as before."""
    X, y = overlapping()
    with pytest.warns(FindingWarning):
        found = tr.HonestSearchCV(*TREE, scoring="log", rule="1-se").fit(X, y)
    assert found.selected_risk_.std_error is None
    assert np.isnan(found.curve_.std_errors).all()


@pytest.mark.parametrize(
    "word", ["log-clip", "log-clip-", "log-clip-0", "log-clip-x", "log-clip-1"]
)
def test_clip_that_is_none_is_refused(word):
    """A word without a clip between 0 and one half is refused by a sentence."""
    with pytest.raises(UnknownName, match=r"log-clip-0\.001"):
        tr.estimate_risk(KNN[0], *overlapping(), scoring=word)


DAYS = tr.datasets.make_daily_load(200, random_state=1)
AHEAD = TimeSeriesSplit(4)
RIDGE = Ridge(), {"alpha": [0.1, 1.0]}
AHEAD_SEARCH = GridSearchCV(*RIDGE, cv=AHEAD)
FORWARD = {
    "estimate": lambda: tr.estimate_risk(RIDGE[0], *DAYS, cv=AHEAD),
    "curve": lambda: tr.risk_curve(*RIDGE, *DAYS, cv="forward-4"),
    "search": lambda: tr.HonestSearchCV(*RIDGE, cv=AHEAD).fit(*DAYS).risk_,
    "given search": lambda: tr.HonestSearchCV(AHEAD_SEARCH, outer=AHEAD).fit(*DAYS).risk_,
    "assess": lambda: tr.assess({"ridge": RIDGE}, *DAYS, cv=AHEAD),
    "audit": lambda: tr.audit(clone(AHEAD_SEARCH).fit(*DAYS), *DAYS),
}
SHUFFLED = {
    "estimate": lambda: tr.estimate_risk(RIDGE[0], *DAYS),
    "tested": lambda: tr.HonestSearchCV(*RIDGE, cv=AHEAD, outer="5-fold").fit(*DAYS).risk_,
    "tuned": lambda: tr.HonestSearchCV(*RIDGE, cv=5, outer="forward-4").fit(*DAYS).risk_,
    "given search": lambda: tr.HonestSearchCV(AHEAD_SEARCH, outer="5-fold").fit(*DAYS).risk_,
    "assess": lambda: tr.assess({"ridge": RIDGE}, *DAYS, cv=AHEAD, outer="5-fold"),
}


@pytest.mark.parametrize("verb", FORWARD)
def test_rows_in_order_are_not_told_where_all_splits_go_forward(verb):
    """Models that saw earlier rows alone gain nothing from rows beside the tested ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        found = FORWARD[verb]()
    assert "rows-in-order" not in {finding.code for finding in found.findings}


@pytest.mark.parametrize("verb", SHUFFLED)
def test_rows_in_order_are_told_where_some_splits_are_shuffled(verb):
    """Shuffled folds that tune, or that test, meet rows beside those of the training set."""
    with pytest.warns(FindingWarning, match="rows-in-order"):
        found = SHUFFLED[verb]()
    assert "rows-in-order" in {finding.code for finding in found.findings}
