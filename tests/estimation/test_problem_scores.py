"""Further scores of the same fits: each is what it is alone, and none takes a fit more."""

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
from truerisk.exceptions import MissingResult, UnknownName
from truerisk.extend import BadArgument, Refusal, TrueRiskWarning

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
@pytest.mark.parametrize("model", [case[0] for case in CASES[:3]], ids=lambda m: type(m).__name__)
def test_scores_are_what_they_are_alone(model, method):
    """By every method, whatever engine answers."""
    scores = SCORES[:3] if method in ("loo", ".632+") else SCORES  # a scorer rates test sets
    found = tr.estimate_risk(model, X, Y, cv=method, scoring=["zero-one", *scores])
    same(found, tr.estimate_risk(model, X, Y, cv=method))
    for name in scores:
        same(found.scores[name], tr.estimate_risk(model, X, Y, cv=method, scoring=name))


@pytest.mark.parametrize(("model", "grid"), CASES, ids=lambda case: type(case).__name__)
def test_scores_of_every_setting_of_a_curve_are_those_it_has_alone(model, grid):
    curve = tr.risk_curve(model, grid, X, Y, cv="5-fold", scoring=["zero-one", *SCORES])
    for name in SCORES:
        alone = tr.risk_curve(model, grid, X, Y, cv="5-fold", scoring=name)
        assert curve.scores[name].best == curve.best
        for c in range(2):
            same(curve[c].scores[name], alone[c])


@pytest.mark.parametrize("outer", ["pairs", "3-fold"])
@pytest.mark.parametrize(("model", "grid"), CASES, ids=lambda case: type(case).__name__)
def test_scores_of_winners_are_rated_by_clones(model, grid, outer):
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


def test_scores_take_no_fit_more():
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


@pytest.mark.parametrize("executor", [None, 2])
def test_scores_change_no_other_number_by_any_executor_or_store(executor, tmp_path):
    """Fits that were stored without scores are made again, and neither run is disturbed."""
    learners, options = {"knn": CASES[0], "bayes": CASES[4]}, {"cv": ["3-fold"]}
    stored = {**options, "n_jobs": executor, "store": tmp_path / "fits.db"}
    scoring = ["zero-one", "auc", "log"]
    without = tr.assess(learners, X, Y, **stored)
    found = [tr.assess(learners, X, Y, scoring=scoring, **stored) for _ in range(2)]
    assert found[0].kept.added > 0
    assert found[1].kept.added == tr.assess(learners, X, Y, **stored).kept.added == 0
    alone = tr.assess(learners, X, Y, scoring=scoring, **options)
    for one in found:
        for name in learners:
            same(one.risks[name], without.risks[name])
            assert set(one.risks[name].scores) == {"auc", "log"}
            for score in ("auc", "log"):
                same(one.risks[name].scores[score], alone.risks[name].scores[score])
        same(one.choice, without.choice)
        assert one.choice.scores["auc"].scoring == "auc"


def test_scores_of_the_choice_are_those_of_the_learner_best_inside():
    learners = {"knn": CASES[0], "tree": CASES[2]}
    a = tr.assess(learners, X, Y, cv=["4-fold"], scoring=["zero-one", "auc"])
    inner = {n: one.winners.inner_risk for n, one in a.learners.items()}
    folds = [
        min(a.order, key=lambda name: (round(inner[name][q], 12), a.order.index(name)))
        for q in range(4)
    ]
    each = [1 - a.risks[name].scores["auc"].split_risks[q] for q, name in enumerate(folds)]
    assert a.choice.scores["auc"].value == pytest.approx(np.mean(each))


def test_answers_by_row_hold_truth_labels_and_probabilities():
    """They are those of a model that did not see the row."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv="5-fold", scoring=["zero-one", "log"])
    frame = found.answers_by_row()
    assert list(frame) == ["row", "fold", "truth", "label", "probability_no", "probability_yes"]
    assert frame["row"].tolist() == list(range(60))
    assert (frame["truth"] != frame["label"]).mean() == pytest.approx(found.value)
    loss = log_loss(Y, frame[["probability_no", "probability_yes"]], labels=["no", "yes"])
    assert loss == pytest.approx(found.scores["log"].value)
    found = tr.estimate_risk(Ridge(), X, NUMBERS, cv="2x5-fold")
    frame = found.answers_by_row()
    assert list(frame) == ["row", "fold", "repeat", "truth", "value"]
    assert len(frame) == 120
    assert ((frame["truth"] - frame["value"]) ** 2).mean() == pytest.approx(found.value)


def test_answers_by_row_leave_out_models_that_saw_the_row():
    """A bootstrap also asks about the rows of its fits; members of a forest miss some rows."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=tr.methods.Bootstrap(".632", replicates=5))
    frame = found.answers_by_row()
    assert 0 < len(frame) < 5 * 40
    assert not frame.duplicated(["row", "fold", "repeat"]).any()
    assert len(tr.estimate_risk(GaussianNB(), X, Y, cv="apparent").answers_by_row()) == 0
    forest = RandomForestClassifier(20, random_state=0)
    found = tr.estimate_risk(forest, X, Y, cv=tr.methods.OutOfBag())
    frame = found.answers_by_row()
    assert frame["row"].tolist() == list(range(60))
    assert (frame["truth"] != frame["label"]).mean() == pytest.approx(found.value)


def test_answers_by_row_are_refused_where_there_are_none():
    """Of a scorer, of an estimate read from a file, and of a setting among several in pairs."""
    scored = tr.estimate_risk(GaussianNB(), X, Y, scoring="jaccard")
    read = tr.RiskEstimate.from_json(tr.estimate_risk(GaussianNB(), X, Y).to_json())
    pairs = tr.risk_curve(*CASES[0], X, Y, cv="pairs")
    assert len(pairs.procedure.answers_by_row()) == 60
    for one in (scored, read, pairs[0]):
        with pytest.raises(MissingResult, match="holds no answers of single rows"):
            one.answers_by_row()


def test_scores_come_back_from_json_and_print_which_way_is_better():
    found = tr.estimate_risk(GaussianNB(), X, Y, scoring=["auc", "log"])
    read = tr.RiskEstimate.from_json(found.to_json())
    assert (read.greater_is_better, read.scores["log"].greater_is_better) == (True, False)
    assert read.value == found.value > 0.5
    assert read.scores["log"].interval == found.scores["log"].interval
    assert str(read) == str(found)
    first, second = str(found).splitlines()
    assert first.startswith(f"auc of 'yes' {found.value:.4f} (larger is better, 5-fold)")
    assert second.startswith(f"risk {found.scores['log'].value:.4f} (log, 5-fold)")


def test_scores_of_a_dict_have_its_names():
    """As GridSearchCV takes them; two calibration errors can be told apart."""
    named = {"coarse": tr.losses.ECE(4), "fine": tr.losses.ECE(30), "ranks": "auc"}
    found = tr.estimate_risk(GaussianNB(), X, Y, scoring=named)
    assert found.scoring == "coarse"
    assert [one.scoring for one in found.scores.values()] == ["fine", "ranks"]
    assert "(fine, 5-fold)" in str(found)
    alone = tr.estimate_risk(GaussianNB(), X, Y, scoring="auc")
    assert found.scores["ranks"].value == alone.value
    assert alone.scores == {}


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
        (accuracy_score, Refusal, "accuracy_score is 1 for right answers, as a score is"),
        (["log", accuracy_score], Refusal, "accuracy_score is 1 for right answers, as a score is"),
    ],
)
def test_scores_that_are_none_are_refused_before_a_fit(scoring, error, words):
    with pytest.raises(error, match=words):
        tr.estimate_risk(GaussianNB(), X, Y, scoring=scoring)


def test_scores_are_refused_by_a_criterion_and_left_to_the_test():
    with pytest.raises(Refusal, match="score 'absolute' is not available from 'aic'"):
        tr.estimate_risk(Ridge(), X, NUMBERS, cv="aic", scoring=["squared", "absolute"])
    given = {"cv": "aic", "outer": "4-fold", "scoring": ["squared", "absolute"]}
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, **given).fit(X, NUMBERS)
    assert search.scores_["absolute"].value > 0
    assert search.selected_risk_.scores == {}


def test_scores_are_averaged_alike_in_the_search():
    search = tr.HonestSearchCV(Ridge(), {"alpha": [1.0, 9.0]}, scoring=["r2", "absolute"])
    search.fit(X[:40], NUMBERS[:40])
    curve = tr.risk_curve(Ridge(), {"alpha": [1.0, 9.0]}, X[:40], NUMBERS[:40], scoring="r2")
    assert search.selected_risk_.value == pytest.approx(curve.values.max())
    rare = np.array(["b"] * 4 + ["a"] * 56)
    with pytest.warns(TrueRiskWarning, match="some folds hold none of it"):
        rated = tr.HonestSearchCV(*CASES[0], scoring=["zero-one", "f1 pooled"]).fit(X, rare)
    assert 0 <= rated.scores_["f1 pooled"].value <= 1
