"""Further scores of the same fits: each is what it is alone, and none takes a fit more."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, f1_score, log_loss, make_scorer, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import (
    BadArgument,
    MissingResult,
    Refusal,
    TrueRiskWarning,
    UnknownName,
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
NUMBERS = X[:, 0] + RNG.normal(size=60)
Y = np.where(NUMBERS > 0, "yes", "no")
SCORES = ("auc", "log", "brier", "neg_log_loss")
CASES = [
    (KNeighborsClassifier(), {"n_neighbors": [1, 15]}),
    (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.1, 0.5]}),
    (DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.05]}),
    (RandomForestClassifier(random_state=0), {"n_estimators": [2, 4]}),
    (GaussianNB(), {"var_smoothing": [1e2, 1e-9]}),
]
made = []


class Counted(GaussianNB):
    """Says when it is fitted."""

    def fit(self, X, y, sample_weight=None):
        made.append(len(X))
        return super().fit(X, y, sample_weight)


def same(one, other):
    """The same risk, as sure, of the same losses."""
    assert one.value == pytest.approx(other.value, rel=1e-12)
    assert one.interval == other.interval
    assert one.notes == other.notes
    assert (one.scoring, one.method, one.target) == (other.scoring, other.method, other.target)
    if other.losses is not None:
        np.testing.assert_allclose(one.losses, other.losses, rtol=1e-12)


@pytest.mark.parametrize("method", ["5-fold", "2x5-fold", "holdout", ".632+", "loo"])
@pytest.mark.parametrize(("model", "grid"), CASES[:3], ids=lambda case: type(case).__name__)
def test_a_score_is_what_it_is_alone(model, grid, method):
    """By every method, whatever engine answers."""
    scores = SCORES[:3] if method in ("loo", ".632+") else SCORES  # a scorer rates test sets
    found = tr.estimate_risk(model, X, Y, cv=method, scoring=["zero-one", *scores])
    same(found, tr.estimate_risk(model, X, Y, cv=method))
    for name in scores:
        same(found.scores[name], tr.estimate_risk(model, X, Y, cv=method, scoring=name))


@pytest.mark.parametrize(("model", "grid"), CASES, ids=lambda case: type(case).__name__)
def test_every_setting_of_a_curve_has_its_scores(model, grid):
    """The chosen setting is that of the loss, in every score."""
    curve = tr.risk_curve(model, grid, X, Y, cv="5-fold", scoring=["zero-one", *SCORES])
    for name in SCORES:
        alone = tr.risk_curve(model, grid, X, Y, cv="5-fold", scoring=name)
        assert curve.scores[name].best == curve.best
        for c in range(2):
            same(curve[c].scores[name], alone[c])


@pytest.mark.parametrize("outer", ["pairs", "3-fold"])
@pytest.mark.parametrize(("model", "grid"), CASES, ids=lambda case: type(case).__name__)
def test_winners_by_the_loss_are_rated_by_clones(model, grid, outer):
    """The AUC of a procedure that chooses by errors: fold by fold, of the setting chosen there."""
    search = tr.HonestSearchCV(model, grid, outer=outer, cv="4-fold", scoring=["zero-one", "auc"])
    search.fit(X, Y)
    frame = search.risk_.answers_by_row()
    values = []
    assert isinstance(model, RandomForestClassifier) or any(o.best_index for o in search.outer_)
    for fold, one in enumerate(search.outer_):
        test = frame["row"][frame["fold"] == fold].to_numpy()
        train = np.setdiff1d(np.arange(60), test)
        fitted = clone(model).set_params(**one.params).fit(X[train], Y[train])
        values.append(roc_auc_score(Y[test], fitted.predict_proba(X[test])[:, 1]))
    found = search.scores_["auc"]
    if "random_state" not in model.get_params() or isinstance(model, DecisionTreeClassifier):
        np.testing.assert_allclose(1 - found.split_risks, values, rtol=1e-9)
    assert found.value == pytest.approx(np.mean(values), abs=1e-9)
    assert found.interval.method == "logit-cv"
    assert found.value in found.interval


def test_no_fit_is_made_for_a_score():
    """Labels, probabilities, scores and a scorer are asked of the same models."""
    grid = {"var_smoothing": [1e-9, 1e-2]}
    made.clear()
    search = tr.HonestSearchCV(Counted(), grid, cv="4-fold", scoring=["zero-one", *SCORES]).fit(
        X, Y
    )
    assert len(made) == 2 * 10 + 1
    assert search.risk_.n_fits == 20
    made.clear()
    found = tr.assess(
        {"bayes": (Counted(), grid)}, X, Y, cv=["4-fold"], scoring=["zero-one", "log"]
    )
    assert len(made) == 20 + 1  # the apparent risk; probabilities for the ROC curve are there
    assert found.learners["bayes"].n_fits == 21


def test_scores_change_no_other_number():
    """The loss chooses, with scores and without them; learners, choice and table are the same."""
    learners = {"knn": CASES[0], "bayes": CASES[4]}
    without = tr.assess(learners, X, Y, cv=["4-fold"])
    found = tr.assess(learners, X, Y, cv=["4-fold"], scoring=["zero-one", "auc", "brier"])
    for name, one in found.learners.items():
        same(one.risk, without.learners[name].risk)
        assert set(one.risk.scores) == {"auc", "brier"}
    same(found.choice, without.choice)
    assert found.choice.scores["auc"].scoring == "auc"


@pytest.mark.parametrize("executor", [None, 2])
def test_executor_and_store_change_nothing(executor, tmp_path):
    """What was asked besides is kept and found again."""
    learner, options = {"bayes": CASES[4]}, {"cv": "3-fold", "scoring": ["zero-one", "auc", "log"]}
    found = [
        tr.assess(learner, X, Y, n_jobs=executor, store=tmp_path / "fits.db", **options)
        for _ in range(2)
    ]
    alone = tr.assess(learner, X, Y, **options)
    assert found[1].kept.added == 0
    for one in found:
        for name in ("auc", "log"):
            same(one.risks["bayes"].scores[name], alone.risks["bayes"].scores[name])


def test_the_choice_among_learners_has_its_scores():
    """In every outer split the answers of the learner that looked best inside by the loss."""
    learners = {"knn": CASES[0], "tree": CASES[2]}
    a = tr.assess(learners, X, Y, cv=["4-fold"], scoring=["zero-one", "auc"])
    inner = {n: one.winners.inner_risk for n, one in a.learners.items()}
    folds = [
        min(a.order, key=lambda name: (round(inner[name][q], 12), a.order.index(name)))
        for q in range(4)
    ]
    each = [1 - a.risks[name].scores["auc"].split_risks[q] for q, name in enumerate(folds)]
    assert a.choice.scores["auc"].value == pytest.approx(np.mean(each))


def test_answers_by_row_give_what_we_do_not():
    """Truth, labels and probabilities of every row, by a model that did not see it."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv="5-fold", scoring=["zero-one", "log"])
    frame = found.answers_by_row()
    assert list(frame) == ["row", "fold", "truth", "label", "probability_no", "probability_yes"]
    assert frame["row"].tolist() == list(range(60))
    assert (frame["truth"] != frame["label"]).mean() == pytest.approx(found.value)
    loss = log_loss(Y, frame[["probability_no", "probability_yes"]], labels=["no", "yes"])
    assert loss == pytest.approx(found.scores["log"].value)


def test_answers_by_row_of_numbers_and_of_repeated_tests():
    """A regression has values; a repetition stands beside the fold."""
    found = tr.estimate_risk(Ridge(), X, NUMBERS, cv="2x5-fold")
    frame = found.answers_by_row()
    assert list(frame) == ["row", "fold", "repeat", "truth", "value"]
    assert len(frame) == 120
    assert ((frame["truth"] - frame["value"]) ** 2).mean() == pytest.approx(found.value)


def test_answers_that_are_not_there_are_refused():
    """Of a scorer, of an estimate read from a file, and of a setting among several in pairs."""
    scored = tr.estimate_risk(GaussianNB(), X, Y, scoring="jaccard")
    read = tr.RiskEstimate.from_json(tr.estimate_risk(GaussianNB(), X, Y).to_json())
    pairs = tr.risk_curve(*CASES[0], X, Y, cv="pairs")
    assert len(pairs.procedure.answers_by_row()) == 60
    for one in (scored, read, pairs[0]):
        with pytest.raises(MissingResult, match="holds no answers of single rows"):
            one.answers_by_row()


def test_a_stored_estimate_keeps_its_scores():
    """JSON and back: values, intervals, and which way is better."""
    found = tr.estimate_risk(GaussianNB(), X, Y, scoring=["zero-one", "auc", "log"])
    read = tr.RiskEstimate.from_json(found.to_json())
    assert not read.greater_is_better
    assert read.scores["auc"].greater_is_better
    assert read.scores["auc"].value == found.scores["auc"].value > 0.5
    assert read.scores["auc"].interval == found.scores["auc"].interval
    assert read.scores["log"].interval == found.scores["log"].interval
    assert not read.scores["log"].greater_is_better
    assert str(read) == str(found)


def test_print_says_which_way_is_better():
    """A score as a score, a loss as a risk."""
    found = tr.estimate_risk(GaussianNB(), X, Y, scoring=["auc", "log"])
    first, second = str(found).splitlines()
    assert first.startswith(f"auc of 'yes' {found.value:.4f} (larger is better, 5-fold)")
    assert second.startswith(f"risk {found.scores['log'].value:.4f} (log, 5-fold)")


@pytest.mark.parametrize(
    ("scoring", "error", "words"),
    [
        (("auc", "auc"), BadArgument, "names a score twice"),
        (
            ["log", make_scorer(f1_score, pos_label="yes"), tr.losses.FBeta(positive="yes")],
            BadArgument,
            "\"f1 of 'yes'\" twice",
        ),
        (3, UnknownName, "scoring=3 is neither a word"),
        (["log", 3], BadArgument, "give a list of scores"),
        ([None], BadArgument, "give a list of scores"),
        ({"usual": None}, BadArgument, "give a list of scores"),
        (["log", "acu"], UnknownName, "there is no scoring 'acu'"),
        (["log", "squared"], Refusal, "loss 'squared' is not defined for classification"),
    ],
)
def test_scores_that_are_none_are_named(scoring, error, words):
    """Said before a fit is made."""
    with pytest.raises(error, match=words):
        tr.estimate_risk(GaussianNB(), X, Y, scoring=scoring)


def test_a_method_of_one_number_tells_no_other():
    """A criterion is asked for a score: a sentence; one that only tunes leaves it to the test."""
    with pytest.raises(Refusal, match="score 'absolute' is not available from 'aic'"):
        tr.estimate_risk(Ridge(), X, NUMBERS, cv="aic", scoring=["squared", "absolute"])
    search = tr.HonestSearchCV(
        Ridge(), {"alpha": [0.1, 1.0]}, cv="aic", outer="4-fold", scoring=["squared", "absolute"]
    ).fit(X, NUMBERS)
    assert search.scores_["absolute"].value > 0
    assert search.selected_risk_.scores == {}


def test_a_dict_names_scores():
    """As GridSearchCV takes them; one alone needs no list."""
    named = tr.estimate_risk(GaussianNB(), X, Y, scoring={"zero-one": "zero-one", "ranks": "auc"})
    alone = tr.estimate_risk(GaussianNB(), X, Y, scoring=["zero-one", "auc"])
    assert named.scores["ranks"].value == alone.scores["auc"].value


def test_no_answer_is_of_a_model_that_saw_its_row():
    """A bootstrap also asks about the rows of its fits; these are left out."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=tr.methods.Bootstrap(".632", replicates=5))
    frame = found.answers_by_row()
    assert 0 < len(frame) < 5 * 40
    assert not frame.duplicated(["row", "fold", "repeat"]).any()
    assert len(tr.estimate_risk(GaussianNB(), X, Y, cv="apparent").answers_by_row()) == 0


def test_ratios_are_averaged_alike_in_the_search():
    """Selected and honest score have one average; a pooled score allows a rare class."""
    search = tr.HonestSearchCV(Ridge(), {"alpha": [1.0, 9.0]}, scoring=["r2", "absolute"])
    search.fit(X[:40], NUMBERS[:40])
    curve = tr.risk_curve(Ridge(), {"alpha": [1.0, 9.0]}, X[:40], NUMBERS[:40], scoring="r2")
    assert search.selected_risk_.value == pytest.approx(curve.values.max())
    rare = np.array(["b"] * 4 + ["a"] * 56)
    with pytest.warns(TrueRiskWarning, match="some folds hold none of it"):
        rated = tr.HonestSearchCV(*CASES[0], scoring=["zero-one", "f1 pooled"]).fit(X, rare)
    assert 0 <= rated.scores_["f1 pooled"].value <= 1


@pytest.mark.parametrize("scoring", [accuracy_score, ["log", accuracy_score]])
def test_a_score_of_labels_is_no_loss(scoring):
    """A metric that is 1 for right answers would be minimised: it is refused with what to write."""
    with pytest.raises(Refusal, match="accuracy_score is 1 for right answers, as a score is"):
        tr.estimate_risk(GaussianNB(), X, Y, scoring=scoring)


def test_names_of_a_dict_are_printed():
    """Two calibration errors can be told apart."""
    named = {"coarse": tr.losses.ECE(4), "fine": tr.losses.ECE(30)}
    found = tr.estimate_risk(GaussianNB(), X, Y, scoring=named)
    assert [found.scoring, *(one.scoring for one in found.scores.values())] == ["coarse", "fine"]
    assert "(fine, 5-fold)" in str(found)
    assert tr.estimate_risk(GaussianNB(), X, Y, scoring=None).scores == {}


def test_rows_taken_out_of_a_fit_were_not_seen():
    """Members of a forest answer for the rows that their samples missed."""
    forest = RandomForestClassifier(20, random_state=0)
    found = tr.estimate_risk(forest, X, Y, cv=tr.methods.OutOfBag())
    frame = found.answers_by_row()
    assert frame["row"].tolist() == list(range(60))
    assert (frame["truth"] != frame["label"]).mean() == pytest.approx(found.value)


def test_a_store_without_scores_serves_a_run_with_them(tmp_path):
    """Fits that were not asked besides are made again, and neither run is disturbed."""
    learner = {"bayes": CASES[4]}
    options = {"cv": ["3-fold"], "store": tmp_path / "fits.db"}
    without = tr.assess(learner, X, Y, **options)
    found = tr.assess(learner, X, Y, scoring=["zero-one", "log"], **options)
    assert found.kept.added > 0
    assert tr.assess(learner, X, Y, **options).kept.added == 0
    same(found.risks["bayes"], without.risks["bayes"])


def test_the_page_has_the_scorecard():
    """Each score on its own scale in a table."""
    found = tr.assess({"bayes": CASES[4]}, X, Y, cv=["3-fold"], scoring=["zero-one", "auc", "log"])
    page = found.to_html()
    auc = found.risks["bayes"].scores["auc"]
    assert "<h3>Scores</h3>" in page
    assert f"{auc.value:.4f}" in page
    assert str(auc.interval) in page
