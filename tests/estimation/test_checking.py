"""All verbs make the same checks, once for each call, and say the same of what they find."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk import RiskCurve, RiskEstimate, audit
from truerisk.estimation import problem
from truerisk.exceptions import FindingWarning
from truerisk.results.finding import Finding, are_checks_on

KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
TREE = DecisionTreeClassifier(random_state=0), {"max_depth": [4, 8]}
LDA = LinearDiscriminantAnalysis(), {"shrinkage": [0.1, 0.5], "solver": ["lsqr"]}
SCORING = {"zero-one": "accuracy", "auc": "roc_auc", "log": "neg_log_loss"}


def near_copies():
    """Return forty patients, measured four times each with little noise; y is a coin for each."""
    rng = np.random.default_rng(0)
    patients = np.repeat(rng.normal(size=(40, 5)), 4, axis=0)
    y = np.repeat(rng.permutation(40) % 2, 4)
    order = rng.permutation(160)
    return (patients + 0.02 * rng.normal(size=patients.shape))[order], y[order]


def few_events():
    """Return 300 rows, of which six have the event."""
    rng = np.random.default_rng(1)
    y = (np.arange(300) % 50 == 0).astype(int)
    return rng.normal(size=(300, 3)) + y[:, None], y


def overlapping():
    """Return two classes that overlap, so that a tree is sometimes sure and wrong."""
    return tr.datasets.make_simple(120, random_state=0)


def estimate(data, learner, loss: str, **options):
    """Estimate the risk of the learner without a grid."""
    return tr.estimate_risk(learner[0], *data, scoring=loss, **options)


def curve(data, learner, loss: str, **options):
    """Estimate the risk of every setting."""
    return tr.risk_curve(*learner, *data, scoring=loss, **options)


def search(data, learner, loss: str, **options):
    """Return the honest risk of a search, whose findings must be those of the search itself."""
    found = tr.HonestSearchCV(*learner, scoring=loss, **options).fit(*data)
    assert found.risk_.findings == found.findings_
    return found.risk_


def given_search(data, learner, loss: str, **options):
    """Return the same of a search of scikit-learn in the place of a grid."""
    grid = GridSearchCV(*learner, scoring=SCORING[loss], cv=3)
    found = tr.HonestSearchCV(grid, scoring=loss, **options).fit(*data)
    assert found.risk_.findings == found.findings_
    return found.risk_


def assess(data, learner, loss: str, **options):
    """Assess one learner."""
    return tr.assess({"it": learner}, *data, scoring=loss, **options)


def audited(data, learner, loss: str, **options):
    """Audit a fitted search of scikit-learn."""
    grid = GridSearchCV(*learner, scoring=SCORING[loss], cv=3).fit(*data)
    return audit(grid, *data, **options)


FACES = [estimate, curve, search, given_search, assess, audited]
CASES = {
    "near-copies": (near_copies, KNN, "zero-one"),
    "few-events": (few_events, LDA, "auc"),
    "infinite-loss": (overlapping, TREE, "log"),
}


def notes_of(result):
    """Join the notes of the risks of a result."""
    if isinstance(result, tr.Assessment):
        return " ".join(note for learner in result.learners.values() for note in learner.risk.notes)
    if isinstance(result, RiskCurve):
        return " ".join(result[result.best].notes)
    return " ".join((result if isinstance(result, RiskEstimate) else result.honest).notes)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("code", CASES)
def test_checks_say_the_same_on_every_face_unless_switched_off(face, code):
    """Findings, notes, one warning, the printed result and its page hold the finding."""
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
    if code == "infinite-loss":
        return  # it is no check of the rows
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        result = face(make(), learner, loss, checks=False)
    assert code not in {finding.code for finding in result.findings}
    assert "give groups" not in notes_of(result)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often rows are checked, and find copies each time."""
    calls: list[int] = []

    def found(data, seed: int = 0) -> list[Finding]:
        calls.append(data.n_rows)
        return [Finding("near-copies", "Rows are copies.", "Give groups.")]

    monkeypatch.setattr(problem, "structure_findings", found)
    return calls


INNER = tr.HonestSearchCV(*KNN)
RUN_ONCE = {
    "estimate": lambda X, y: tr.estimate_risk(INNER, X, y),
    "workers": lambda X, y: tr.estimate_risk(INNER, X, y, n_jobs=2),
    "bootstrap": lambda X, y: tr.estimate_risk(INNER, X, y, cv=tr.methods.Bootstrap(replicates=5)),
    "search": lambda X, y: tr.HonestSearchCV(INNER).fit(X, y),
    "assess": lambda X, y: tr.assess({"it": INNER}, X, y),
    "curves": lambda X, y: tr.assess({"it": KNN}, X, y, learning_curve="all"),
}
REPEATING = {
    "permuted labels": lambda X, y: tr.permutation_test(INNER, X, y, n_permutations=19),
    "parts of the rows": lambda X, y: tr.learning_curve(INNER, X, y, sizes=[10, 20, 30, 40]),
}


@pytest.mark.parametrize(
    ("verb", "n_checks"),
    [
        *(pytest.param(verb, 1, id=name) for name, verb in RUN_ONCE.items()),
        *(pytest.param(verb, 0, id=name) for name, verb in REPEATING.items()),
    ],
)
def test_checks_run_once_and_not_inside_fits_and_verbs_that_repeat(verb, n_checks, monkeypatch):
    calls = counted(monkeypatch)
    X, y = tr.datasets.make_simple(60, random_state=0)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        verb(X, y)
    assert calls == [60] * n_checks
    assert sum(issubclass(one.category, FindingWarning) for one in heard) == n_checks
    assert are_checks_on()


def test_checks_of_a_search_are_told_without_an_outer_loop():
    with pytest.warns(FindingWarning, match="near-copies"):
        found = tr.HonestSearchCV(*KNN, outer=None).fit(*near_copies())
    codes = [finding.code for finding in found.findings_]
    assert "near-copies" in codes
    assert "few-events" not in codes
    assert found.selected_risk_.findings == found.findings_
    assert found.findings_[0].remedy in found._repr_html_inner().replace("&#x27;", "'")


def test_selected_risk_names_the_findings_that_the_honest_risk_states():
    """The warning and the honest risk state them in full, and a third time would be noise."""
    with pytest.warns(FindingWarning, match="near-copies"):
        found = tr.HonestSearchCV(*KNN).fit(*near_copies())
    (finding,) = found.findings_
    assert str(finding) in " ".join(str(found.risk_).split())
    line, *others = str(found.selected_risk_).splitlines()
    assert "best of" in line
    assert others == ["warning: many rows have a near copy: measured twice? [near-copies]"]
    assert found.selected_risk_.findings == found.risk_.findings
    assert finding.note in found.selected_risk_.notes


def test_finding_of_an_earlier_version_is_read_by_its_new_name():
    kept = Finding("few-events", "x", "y")
    assert Finding("few-rows-of-a-class", "x", "y") == kept
    with pytest.warns(FindingWarning):
        found = estimate(few_events(), LDA, "auc")
    content = replace(found, findings=(kept,)).to_dict()
    content["findings"][0]["code"] = "few-rows-of-a-class"
    assert RiskEstimate.from_dict(content).findings == (kept,)


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
    assert "findings" not in clipped.to_dict()
    assert clipped.std_error is not None or method == ".632+"


def test_infinite_loss_takes_the_interval_of_the_log_loss_alone():
    """The value is that of scikit-learn on the same answers."""
    X, y = overlapping()
    folds = KFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(TREE[0], X, y, cv=folds, scoring="neg_log_loss")
    given = ["zero-one", "neg_log_loss", "brier"]
    with pytest.warns(FindingWarning):
        risk = tr.estimate_risk(TREE[0], X, y, cv=folds, scoring=given)
    log = risk.scores["neg_log_loss"]
    assert (log.value, log.interval) == (pytest.approx(scores.mean()), None)
    assert risk.interval is not None
    assert risk.scores["brier"].interval is not None


def test_infinite_loss_leaves_a_difference_without_interval():
    X, y = overlapping()
    with pytest.warns(FindingWarning):
        a = tr.estimate_risk(TREE[0], X, y, scoring="log")
    b = tr.estimate_risk(LDA[0], X, y, scoring="log")
    for compared in (a - b, tr.compare(b, a), tr.compare(a, b, test="bayes")):
        assert abs(compared.value) == pytest.approx(abs(a.value - b.value))
        assert (compared.interval, compared.p_value, compared.test) == (None, None, "none")
        assert "clip=" in compared.notes[0]


def test_infinite_loss_leaves_the_rule_its_standard_error():
    X, y = overlapping()
    with pytest.warns(FindingWarning):
        found = tr.HonestSearchCV(*TREE, scoring="log", rule="1-se").fit(X, y)
    assert found.selected_risk_.std_error is None
    assert np.isnan(found.curve_.std_errors).all()


DAYS = tr.datasets.make_daily_load(200, random_state=1)
AHEAD = TimeSeriesSplit(4)
RIDGE = Ridge(), {"alpha": [0.1, 1.0]}
AHEAD_SEARCH = GridSearchCV(*RIDGE, cv=AHEAD)
ORDERED = {
    "estimate": lambda cv: tr.estimate_risk(RIDGE[0], *DAYS, cv=cv),
    "curve": lambda cv: tr.risk_curve(*RIDGE, *DAYS, cv=cv),
    "tested": lambda cv: tr.HonestSearchCV(*RIDGE, cv=AHEAD, outer=cv).fit(*DAYS).risk_,
    "tuned": lambda cv: tr.HonestSearchCV(*RIDGE, cv=cv, outer="forward-4").fit(*DAYS).risk_,
    "given search": lambda cv: tr.HonestSearchCV(AHEAD_SEARCH, outer=cv).fit(*DAYS).risk_,
    "assess": lambda cv: tr.assess({"ridge": RIDGE}, *DAYS, cv=AHEAD, outer=cv),
    "audit": lambda cv: tr.audit(GridSearchCV(*RIDGE, cv=cv).fit(*DAYS), *DAYS),
}


@pytest.mark.parametrize("verb", ORDERED)
def test_rows_in_order_are_told_unless_all_splits_go_forward(verb):
    """Shuffled folds that tune, or that test, meet rows beside those of the training set."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FindingWarning)
        found = ORDERED[verb](AHEAD)
    assert "rows-in-order" not in {finding.code for finding in found.findings}
    with pytest.warns(FindingWarning, match="rows-in-order"):
        found = ORDERED[verb](KFold(5, shuffle=True, random_state=0))
    assert "rows-in-order" in {finding.code for finding in found.findings}
