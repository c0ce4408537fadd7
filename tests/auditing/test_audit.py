"""`tr.audit`: the claim of a fitted search, the honest risk, what is wrong, and how it is told."""

import html
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.auditing.outcome import write_conclusion
from truerisk.core.progress import listen
from truerisk.exceptions import LeakWarning, UnknownName
from truerisk.extend import BadArgument, BadData, Refusal, Streams
from truerisk.intervals.bootstrapped_choice import correct_risk_by_bootstrap

GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


@pytest.fixture(scope="module")
def rows():
    """60 rows of two overlapping classes."""
    return tr.datasets.make_simple(60, random_state=3)


@pytest.fixture(scope="module")
def search(rows):
    """A fitted grid search."""
    return GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(*rows)


@pytest.mark.parametrize("k", [5, 7])
def test_honest_value_is_the_bootstrap_of_the_replay(rows, k):
    """The number is BBC of the out-of-fold losses, from the stream of that name.

    Rows count as the search counts them: each fold alike, so the rows of a small one more.
    """
    X, y = rows
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=k).fit(X, y)
    losses = [
        cross_val_predict(KNeighborsClassifier(n), X, y, cv=k) != y for n in GRID["n_neighbors"]
    ]
    weights = np.empty(60)
    for _, test in StratifiedKFold(k).split(X, y):
        weights[test] = 60 / (k * len(test))
    expected = correct_risk_by_bootstrap(losses, Streams(7).get("bbc"), weights=weights)
    assert expected.selected_mean_loss == pytest.approx(1 - search.best_score_)
    u = tr.audit(search, X, y, level="bbc", random_state=7)
    assert u.honest.loss_value == pytest.approx(expected.value, abs=1e-12)
    assert u.honest.value == 1 - u.honest.loss_value
    assert u.honest.method == "bbc"
    assert u.honest.loss_interval.low == pytest.approx(expected.interval().low)
    assert u.honest.loss_interval.high == pytest.approx(expected.interval().high)


def test_random_state_decides_the_number_with_any_number_of_workers(search, rows):
    first = tr.audit(search, *rows, level="bbc", random_state=1).honest
    again = tr.audit(search, *rows, level="bbc", random_state=1, n_jobs=2).honest
    assert again.value == first.value
    assert tr.audit(search, *rows, level="bbc", random_state=2).honest.value != first.value


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        (lambda X, y: (), {}, Refusal, "needs the rows"),
        (lambda X, y: (), {"level": "pairs"}, Refusal, "level 'pairs' fits again"),
        (lambda X, y: (X,), {}, BadData, "y is missing"),
        (lambda X, y: (X[:, :1], y), {}, BadData, "X has 1 columns and the search was fitted on 2"),
        (lambda X, y: (X, y), {"level": "bcc"}, UnknownName, "did you mean 'bbc'"),
        (lambda X, y: (X, y), {"confidence_level": 95}, BadArgument, "between 0 and 1"),
        (lambda X, y: (X, y), {"confidence_level": "95"}, BadArgument, "confidence_level='95'"),
        (lambda X, y: (X, y), {"outer": "5-fold"}, BadArgument, "Use level='nested'"),
        (
            lambda X, y: (X, y),
            {"level": "bbc", "outer": "5-fold"},
            BadArgument,
            "level='bbc' has no outer splits",
        ),
    ],
)
def test_audit_refuses_wrong_options(search, rows, given, options, error, message):
    """Level scores works without rows."""
    with pytest.raises(error, match=message):
        tr.audit(search, *given(*rows), **options)
    assert tr.audit(search, level="scores").claimed.value == search.best_score_


def test_confidence_level_decides_the_width(search, rows):
    wide, narrow = (
        tr.audit(search, *rows, confidence_level=level).honest.interval for level in (0.95, 0.5)
    )
    assert narrow.width < wide.width
    assert narrow.confidence_level == 0.5


def test_audit_leaves_the_search_and_the_rows_as_they_were(rows):
    X, y = (np.array(part) for part in rows)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(X, y)
    before = {name: repr(value) for name, value in vars(search).items()}
    for level in ("scores", "bbc", "pairs", "nested"):
        tr.audit(search, X, y, level=level)
    assert {name: repr(value) for name, value in vars(search).items()} == before
    assert np.array_equal(X, rows[0])
    assert np.array_equal(y, rows[1])


def test_duplicate_rows_are_a_finding_and_no_warning(rows):
    X, y = np.repeat(rows[0], 2, axis=0), np.repeat(rows[1], 2)
    order = np.random.default_rng(0).permutation(120)
    X, y = X[order], y[order]
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=5).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeakWarning)
        assert "duplicate-rows" in tr.audit(search, X, y).codes


def test_conclusion_of_an_audit_says_whether_the_claim_is_refuted(found):
    """Only a refuted claim is too good; the same number needs no verdict."""
    honest = found.honest
    assert honest.interval.low < honest.value < found.claimed.value < honest.interval.high
    narrow = replace(honest.interval, high=(honest.value + found.claimed.value) / 2)
    for interval, claim, said in (
        (narrow, found.claimed, " too good. It lies outside the interval, so it is refuted."),
        (None, found.claimed, " better; without an interval, these rows cannot refute it."),
        (
            honest.interval,
            replace(found.claimed, value=honest.interval.low),
            " worse; it lies in the interval, so these rows do not refute it.",
        ),
        (honest.interval, replace(found.claimed, value=honest.value), "which is the same."),
    ):
        changed = replace(found, honest=replace(honest, interval=interval), claimed=claim)
        assert write_conclusion(changed, "best_score_").endswith(said)


def test_progress_of_an_audit_names_the_stage(search, rows):
    stages = []
    with listen(lambda progress: stages.append(progress.stage)):
        tr.audit(search, *rows, engine="generic")
    assert "replaying the search" in stages


def test_selection_outside_is_found_and_inside_is_not():
    """2000 features of noise, 50 rows: with the selection in the pipeline nothing is found."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2000)), np.arange(50) % 2
    outside = SelectKBest(k=30).fit_transform(X, y)
    naive = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5, 9]}, cv=5).fit(outside, y)
    u = tr.audit(naive, outside, y)
    assert "selection-outside" in u.codes
    assert "selected before the search" in u.conclusion
    assert u.honest.value > 0.65  # far above the truth, .5: no resampling can see it
    pipeline = make_pipeline(SelectKBest(k=30), KNeighborsClassifier())
    honest = GridSearchCV(pipeline, {"kneighborsclassifier__n_neighbors": [3, 5, 9]}, cv=5)
    inside = tr.audit(honest.fit(X, y), X, y)
    assert "selection-outside" not in inside.codes
    assert inside.honest.value < 0.65


class Column(KNeighborsClassifier):
    """The sign of one column."""

    def __init__(self, j=0, n_neighbors=5):
        super().__init__(n_neighbors)
        self.j = j

    def fit(self, X, y):
        super().fit(X[:, [self.j]], y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.where(X[:, self.j] > 0, 1, 0)


def test_optimism_is_large_for_the_best_of_many_settings_on_noise():
    """The claim of the best of 40 is above a half, the corrected score is not."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 40)), np.arange(60) % 2
    search = GridSearchCV(Column(), {"j": list(range(40))}, cv=5, scoring="accuracy").fit(X, y)
    u = tr.audit(search, X, y)
    assert u.claimed.value > 0.6
    assert u.honest.value == pytest.approx(0.5, abs=0.1)
    assert "optimism-large" in u.codes


@pytest.fixture(scope="module")
def found(search, rows):
    return tr.audit(search, *rows)


def test_conclusion_comes_first_and_every_finding_is_printed(found):
    """Claim, optimism, honest score and interval, on the scale of best_score_."""
    words = " ".join(str(found).split())
    assert words.startswith(found.conclusion[:60])
    score, honest, interval = found.claimed.value, found.honest.value, found.honest.interval
    assert found.optimism == score - honest
    assert found.refuted is (score not in interval)
    assert found.refuted is False
    how = "better" if found.optimism > 0 else "worse"
    assert found.conclusion == (
        f"Expect the accuracy on new rows to be {honest:.4f} "
        f"(95 % interval {interval.low:.4f} to {interval.high:.4f}). "
        f"The search reports {score:.4f}, which is {abs(found.optimism):.4f} {how}; "
        "it lies in the interval, so these rows do not refute it."
    )
    assert found.findings
    for finding in found.findings:
        assert " ".join(str(finding).split()) in words


def test_rough_number_of_level_scores_is_no_headline(search):
    """It has no interval, is called rough, and refutes nothing."""
    u = tr.audit(search, level="scores")
    assert "rough correction" in u.conclusion
    assert "Expect" not in u.conclusion
    assert u.conclusion.startswith(
        f"The accuracy that the search reports, {u.claimed.value:.4f}, is the best of "
        f"{u.n_candidates} scores and therefore too good."
    )
    assert u.honest.interval is None
    assert "rough" in u.honest.method
    assert u.refuted is None


@pytest.mark.parametrize(
    ("scoring", "labels", "name"),
    [
        ("roc_auc", ("early", "late"), "roc_auc of 'late'"),
        ("precision", (0, 1), "precision of class 1"),
        ("jaccard", (0, 1), "jaccard of class 1"),
        (make_scorer(f1_score, pos_label="early"), ("early", "late"), "f1 of 'early'"),
        (make_scorer(f1_score, pos_label=0), (0, 1), "f1 of class 0"),
        ("balanced_accuracy", ("early", "late"), "balanced_accuracy"),
    ],
)
def test_audit_names_the_class_of_its_score(rows, scoring, labels, name):
    """The conclusion, the printed result, its title, the page and the numbers name the class."""
    X, y = rows[0], np.array(labels)[rows[1]]
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, scoring=scoring)
    u = tr.audit(search.fit(X, y), X, y)
    assert u.conclusion.startswith(f"Expect the {name} on new rows to be ")
    assert u.title.endswith(f"level 'pairs', {name}")
    assert f"{name} (larger is better)" in str(u)
    page = html.unescape(u.to_html())
    for text in (f"Scores, {name}, larger is better", f", with {name} ", f">{name} (larger is"):
        assert text in page
    assert f"{name} {u.claimed.value:.4f} (larger is better, " in str(u.claimed)
    assert {one.named_scoring for one in (u.claimed, u.honest, u.rough)} == {name}
    again = type(u).from_json(u.to_json())
    assert (str(again), again.to_html()) == (str(u), u.to_html())
    assert tr.audit(search, X, y, level="scores").honest.named_scoring == name


def test_audit_without_rows_knows_the_class_of_a_named_score_alone(rows):
    names = {}
    for scoring in ("f1", "roc_auc", "auc"):
        learner = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, scoring=scoring)
        if scoring == "auc":
            learner = tr.HonestSearchCV(learner.estimator, learner.param_grid, scoring=scoring)
        names[scoring] = tr.audit(learner.fit(*rows), level="scores").claimed.named_scoring
    assert names == {"f1": "f1 of class 1", "roc_auc": "roc_auc", "auc": "auc"}


@pytest.mark.filterwarnings("ignore")  # scikit-learn: every score is NaN
def test_claim_that_is_no_number_is_not_refuted(rows):
    search = GridSearchCV(KNeighborsClassifier(), GRID, scoring=lambda model, X, y: np.nan)
    search.fit(*rows)
    search.scoring = "accuracy"
    u = tr.audit(search, *rows)
    assert u.refuted is None
    assert "claim-refuted" not in u.codes
    assert u.conclusion.startswith("Expect the accuracy on new rows to be ")
    assert u.conclusion.endswith("The search reports no finite number, so nothing can be refuted.")


def test_notebook_view_escapes_what_users_write(rows):
    X, y = rows
    frame = pd.DataFrame(np.c_[X, y], columns=["a", "b", "</script><b>"])
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=3).fit(frame, y)
    page = tr.audit(search, frame, y)._repr_html_()
    assert "<b>" not in page
    assert "&lt;/script&gt;" in page
