"""Every number is on the scale that was asked for: nobody who asks for AUC is told 1 − AUC."""

import re
from functools import cache
from itertools import chain

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.core.formats import format_number
from truerisk.extend import Interval
from truerisk.results.interval import LOSS_SCALE, Scale, are_tied

X, Y = make_classification(150, 6, flip_y=0.2, random_state=1)
NUMBERS = X @ np.arange(6.0) + np.random.default_rng(0).normal(0, 8, 150)
KNN = (KNeighborsClassifier(), {"n_neighbors": [5, 15, 31]})
CLASSES = {"knn": KNN, "logistic": (LogisticRegression(), {"C": [0.01, 1.0]})}
OF_NUMBERS = {
    "knn": (KNeighborsRegressor(), {"n_neighbors": [5, 15]}),
    "ridge": (Ridge(), {"alpha": [0.1, 10.0]}),
}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


def risk(scoring, model=None, **options):
    return tr.estimate_risk(model or LogisticRegression(), X, Y, scoring=scoring, **options)


@cache
def assessed(*scoring, **options):
    """Assess learners of classes, or of numbers by R²."""
    learners, y = (OF_NUMBERS, NUMBERS) if scoring == ("r2",) else (CLASSES, Y)
    given = {"scoring": scoring[0] if len(scoring) == 1 else list(scoring)} if scoring else {}
    return tr.assess(learners, X, y, cv=["5-fold"], **given, **options)


def ends(value, interval):
    return value, interval.low, interval.high


def numbers_of(*estimates):
    """Return what is shown of scores and the losses of the same answers, as they are printed."""
    shown, hidden = set(), set()
    for one in estimates:
        shown |= set(map(format_number, ends(one.value, one.interval)))
        hidden |= set(map(format_number, ends(one.loss_value, one.loss_interval)))
    return shown, hidden - shown


def plain(page):
    """Return what a reader sees and hears, without what is of single thresholds and rows."""
    page = re.sub(r'<section id="(rates|calibration)".*?</section>', "", page, flags=re.DOTALL)
    page = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    said = re.findall(r'(?:aria-label|data-said)="([^"]*)"', page)
    return " ".join([re.sub(r"<[^>]*>", " ", page), *said])


def read_in(view):
    return set(re.findall(r"\d+\.\d{4}", plain(view)))


def test_scale_turns_values_intervals_and_differences():
    """Perfect − risk, the ends of intervals swapped; errors stay as they are."""
    auc, interval = Scale(1.0), Interval(0.25, 0.5, "wald")
    assert (auc.value(0.25), auc.interval(interval).low, auc.convert_difference(0.25)) == (
        0.75,
        0.5,
        -0.25,
    )
    assert auc.interval(auc.interval(interval)) == interval
    assert auc.value(None) is auc.interval(None) is None
    assert LOSS_SCALE.interval(interval) is interval
    assert (LOSS_SCALE.value(0.25), LOSS_SCALE.convert_difference(0.25)) == (0.25, 0.25)


@pytest.mark.parametrize("unit", [1e-200, 1e-14, 1.0, 1e9])
def test_tied_takes_a_last_bit_for_a_tie_in_any_unit(unit):
    """A risk of 0 has no last bit; what failed, at infinity, ties with what failed."""
    risks = unit * np.array([1.0, 1 + 1e-15, 1 + 1e-6, 2.0])
    assert are_tied(risks, risks[0]).tolist() == [True, True, False, False]
    assert are_tied(-risks, -risks[3]).tolist() == [False, False, False, True]
    assert are_tied(np.array([0.0, 1e-300, np.inf]), 0.0).tolist() == [True, False, False]
    assert are_tied(np.inf, np.inf)


@pytest.mark.parametrize(
    "scoring", ["roc_auc", "f1", "accuracy", "neg_log_loss", "neg_brier_score"]
)
def test_value_of_an_estimate_is_the_score_of_scikit_learn(scoring):
    """So are interval, frame, metrics and JSON."""
    expected = cross_val_score(LogisticRegression(), X, Y, cv=FOLDS, scoring=scoring).mean()
    found = risk(scoring, cv=FOLDS)
    assert found.greater_is_better
    assert found.value == pytest.approx(expected)
    assert found.interval.low < found.value < found.interval.high
    frame, told = found.to_frame(), found.to_metrics()
    numbers = ends(found.value, found.interval)
    assert tuple(frame[name][0] for name in ("value", "low", "high")) == numbers
    assert tuple(told[f"{scoring}{end}"] for end in ("", ".low", ".high")) == numbers
    assert found.to_dict()["value"] == found.value


@pytest.mark.parametrize(
    ("scoring", "called"),
    [
        ("auc", "1 - auc"),
        ("roc_auc", "1 - roc_auc"),
        ("accuracy", "1 - accuracy"),
        ("neg_log_loss", "log_loss"),
    ],
)
def test_as_loss_turns_a_score_and_its_further_scores_over(scoring, called):
    """What is a loss stays."""
    found = risk([scoring, "f1", "brier"])
    loss, best = found.as_loss(), 0.0 if scoring == "neg_log_loss" else 1.0
    assert (loss.scoring, loss.greater_is_better, loss.perfect) == (called, False, None)
    low, high = found.interval.low, found.interval.high
    assert ends(loss.value, loss.interval) == (best - found.value, best - high, best - low)
    assert (loss.value, loss.interval) == (found.loss_value, found.loss_interval)
    assert loss.std_error == found.std_error
    assert loss.scores["1 - f1"].value == 1 - found.scores["f1"].value
    assert loss.scores["brier"] is found.scores["brier"]
    assert loss.to_metrics()[called] == pytest.approx(loss.value)
    assert str(loss).startswith(f"risk {format_number(loss.value)} ({loss.named_scoring}, 5-fold)")
    assert loss.as_loss().to_dict() == loss.to_dict()


def test_as_loss_leaves_a_loss_and_turns_curves():
    """The largest score is chosen, and the same setting is the best as a loss."""
    found = risk("log")
    assert not found.greater_is_better
    assert found.as_loss() is found
    assert (found.loss_value, found.loss_interval) == (found.value, found.interval)
    curve = tr.risk_curve(*KNN, X, Y, cv="5-fold", scoring=["auc", "log"])
    assert curve.greater_is_better
    assert curve.values.tolist() == [each.value for each in curve]
    assert curve.best == curve.values.argmax()
    np.testing.assert_array_equal(curve.to_frame()["value"], curve.values)
    losses = curve.as_loss()
    np.testing.assert_allclose(losses.values, 1 - curve.values)
    assert (losses.best, losses.greater_is_better) == (curve.best, False)
    assert [each.scoring for each in losses] == ["1 - auc"] * 3
    log = curve.scores["log"]
    np.testing.assert_array_equal(losses.scores["log"].values, log.values)
    np.testing.assert_array_equal(log.as_loss().values, log.values)


def percent(estimator, X, y):
    return 100 * estimator.score(X, y)


def slimness(estimator, X, y):
    return percent(estimator, X, y) - np.abs(estimator.coef_).sum()


def below_zero(estimator, X, y):
    return 2 * estimator.score(X, y) - 5


@pytest.mark.parametrize(
    ("scorer", "perfect", "called"),
    [
        (percent, 100.0, "100 - percent"),
        (slimness, np.inf, "-slimness"),
        (below_zero, -3.0, "-3 - below_zero"),
    ],
)
def test_as_loss_of_a_function_names_what_it_lacks_to_the_best(scorer, perfect, called):
    """The loss is minus the score if nothing is known of the best."""
    found = risk(scorer, cv=FOLDS)
    scores = cross_val_score(LogisticRegression(), X, Y, cv=FOLDS, scoring=scorer)
    assert (found.perfect, found.value) == (perfect, pytest.approx(scores.mean()))
    loss, best = found.as_loss(), 0.0 if perfect == np.inf else perfect
    assert (loss.value, loss.perfect) == (pytest.approx(best - found.value), None)
    assert loss.scoring == called
    read = tr.RiskEstimate.from_json(found.to_json())
    assert (read.perfect, read.value, str(read)) == (perfect, found.value, str(found))


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy"])
@pytest.mark.parametrize("cv", [".632", "optimism"])
def test_table_of_an_estimate_is_of_scores(scoring, cv):
    """Apparent and corrected are scores; optimism is what the data flatter by."""
    model = KNeighborsClassifier(3)
    found = risk(scoring, model, cv=cv)
    loss = found.as_loss()
    assert found.table["apparent"] == pytest.approx(get_scorer(scoring)(model.fit(X, Y), X, Y))
    assert found.table["corrected"] == found.value < found.table["apparent"]
    assert loss.table["corrected"] == pytest.approx(1 - found.value)
    if cv == "optimism":
        gap = found.table["apparent"] - found.table["corrected"]
        assert found.table["optimism"] == loss.table["optimism"] == pytest.approx(gap)


def test_optimism_of_a_search_is_positive_where_the_selected_score_is_larger():
    search = tr.HonestSearchCV(*KNN, cv="5-fold", outer="4-fold", scoring="auc").fit(X, Y)
    selected, honest = search.selected_risk_.value, search.risk_.value
    assert selected == search.curve_.values.max() == search.best_score_
    assert search.optimism_ == pytest.approx(selected - honest)
    assert [fold.risk for fold in search.outer_] == pytest.approx(1 - search.risk_.split_risks)
    assert np.mean([fold.risk for fold in search.outer_]) == pytest.approx(honest)
    assert all(0.5 < fold.inner_risk < 1 for fold in search.outer_)
    errors, same = (
        tr.HonestSearchCV(*KNN, cv="5-fold", outer="5-fold", scoring=scoring).fit(X, Y)
        for scoring in ("zero-one", "accuracy")
    )
    assert same.optimism_ == pytest.approx(errors.optimism_)
    assert same.risk_.value == pytest.approx(1 - errors.risk_.value)


def test_selected_risk_of_a_criterion_is_told_as_a_loss():
    """AIC is minimised beside a score: its numbers are not turned over."""
    grid = {"C": [0.01, 1, 100]}
    given = {"scoring": "neg_log_loss", "cv": "aic", "outer": 4}
    search = tr.HonestSearchCV(LogisticRegression(), grid, **given).fit(X[:60], Y[:60])
    assert search.risk_.value < 0 < search.selected_risk_.value
    assert not search.selected_risk_.greater_is_better
    assert all(fold.inner_risk > 0 > fold.risk for fold in search.outer_)
    found = tr.assess({"line": (LogisticRegression(), grid)}, X[:60], Y[:60], **given)
    assert "selected: the risk that tuning minimised (aic" in str(found)


@pytest.mark.parametrize(("scoring", "sign"), [("squared", 1), ("neg_mean_squared_error", -1)])
def test_selected_risk_of_a_criterion_in_the_unit_of_the_score_is_on_its_scale(scoring, sign):
    """So that the optimism is told, whatever sign the score has."""
    search = tr.HonestSearchCV(*OF_NUMBERS["ridge"], scoring=scoring, cv="gcv", outer=4)
    search.fit(X, NUMBERS)
    assert sign * search.selected_risk_.value > 0
    gap = sign * (search.risk_.value - search.selected_risk_.value)
    assert search.optimism_ == pytest.approx(gap)


def test_permutation_test_is_of_scores():
    """The AUC of permuted labels is about a half, and the observed one is the search's own."""
    search = tr.HonestSearchCV(KNN[0], {"n_neighbors": [3, 9]}, cv="3-fold", scoring="auc")
    found = tr.permutation_test(search, X[:60], Y[:60], n_permutations=19, random_state=0)
    assert found.observed == pytest.approx(clone(search).fit(X[:60], Y[:60]).risk_.value)
    assert found.null.mean() == pytest.approx(0.5, abs=0.1)
    assert found.observed > found.null.max()
    assert found.p_value == 1 / 20


@pytest.mark.parametrize(
    "scoring",
    ["auc", "average-precision", "f1", "mcc", "kappa", "accuracy", "neg_log_loss", "r2"],
)
def test_difference_of_scores_is_a_minus_b(scoring):
    """The same magnitude as of the losses, the interval turned over, and the same winner."""
    models, y = (LogisticRegression(), KNeighborsClassifier(40)), Y
    if scoring == "r2":
        models, y = (Ridge(), KNeighborsRegressor(40)), NUMBERS
    a, b = (tr.estimate_risk(model, X, y, cv="pairs", scoring=scoring) for model in models)
    scores, losses = a - b, a.as_loss() - b.as_loss()
    assert (scores.greater_is_better, losses.greater_is_better) == (True, False)
    assert scores.value == pytest.approx(a.value - b.value)
    assert losses.value == pytest.approx(-scores.value)
    assert scores.statistic == pytest.approx(-losses.statistic)
    assert scores.interval.low == pytest.approx(-losses.interval.high)
    assert scores.interval.high == pytest.approx(-losses.interval.low)
    assert (scores.p_value, scores.std_error) == pytest.approx((losses.p_value, losses.std_error))
    assert scores.probabilities == pytest.approx(losses.probabilities)
    assert (scores.better > scores.worse) == (a.value > b.value)
    assert scores.shows_worse(0.9) == losses.shows_worse(0.9)
    assert f"a − b {scores.value:+.4f}" in str(scores)


@pytest.mark.parametrize("scoring", ["auc", "zero-one"])
def test_study_takes_the_higher_auc_and_the_lower_error_as_the_better(scoring, tmp_path):
    """By the truth on fresh rows and by the estimate; of errors of the estimate less is better."""
    spec = {
        "replicates": 2, "sizes": [40], "problems": ["simple", "difficult"], "n_test": 300,
        "learners": [{"word": "knn", "set": {"n_neighbors": k}, "name": f"{k}nn"} for k in (1, 9)],
        "methods": ["2-fold"], "scoring": scoring,
    }  # fmt: skip
    results = tr.Study(spec, tmp_path / "runs.db").run()
    is_score = scoring == "auc"
    assert {row[f"{of}_is_score"] for row in results.rows for of in ("truth", "value")} == {
        is_score
    }
    for by in ("truth", "value"):
        found = results.compare(by=by)
        losses = np.array(found.values) * (-1 if is_score else 1)
        assert found.ranks == pytest.approx(rankdata(losses.round(12), axis=1).mean(axis=0))
        assert found.terms.better == ("higher" if is_score else "lower")
    assert results.compare(by="rmse").terms.better == "lower"


@pytest.mark.parametrize("scoring", ["auc", "f1", "accuracy", "r2"])
def test_assessment_shows_the_loss_of_a_score_nowhere(scoring):
    """Print, conclusion, page, notebook: the scores stand there."""
    found = assessed(scoring)
    risk = found.risks[found.best]
    shown, hidden = numbers_of(found.choice, *found.risks.values())
    page, text = plain(found.to_html()), str(found)
    for view in (page, text, found._repr_html_()):
        assert shown <= read_in(view)
        assert not hidden & read_in(view)
    assert f"Report {format_number(found.choice.value)} (" in found.conclusion
    assert "Report this score" in page
    assert "larger is better" in text
    assert "lower is better" not in page + text
    assert re.search(rf"with [^.]+ {format_number(risk.value)} \(95 % interval", page)
    content = found.to_dict()["choice"]
    assert (content["value"], content["greater_is_better"]) == (found.choice.value, True)


def test_assessment_of_errors_shows_risks_and_further_scores():
    """What to report of each score is that of the whole search."""
    found = assessed("zero-one", "auc", "log")
    assert f"Report {format_number(found.choice.value)} (" in found.conclusion
    assert "Report this risk" in found.to_html()
    assert found.to_dict()["choice"]["greater_is_better"] is False
    table, scores = found.scorecard(), found.choice.scores
    whole = table[table["learner"] == "whole search"].set_index("score")["honest"]
    assert whole.to_dict() == {"auc of class 1": scores["auc"].value, "log": scores["log"].value}
    for view in (str(found), plain(found.to_html())):
        assert "whole search" in view
        assert str(scores["auc"].interval) in view


def test_figures_of_an_assessment_are_of_scores():
    """Ladder, splits, curve: the name of the score is on the axis."""
    found = assessed("auc", outer=tr.methods.MonteCarlo(4))
    drawn = {
        "auc of class 1 (larger is better)": found.plot_ladder(),
        "score of one split (auc of class 1)": found.plot_monte_carlo(),
    }
    for label, axes in drawn.items():
        assert axes.get_xlabel() == label
        values = chain.from_iterable(line.get_xdata() for line in axes.lines)
        assert min(values) >= 0.5
    curve = found.plot_curve()
    assert curve.get_ylabel() == "auc of class 1 (larger is better)"
    best = found.curves[found.best]
    assert curve.lines[0].get_ydata().max() == pytest.approx(best.values.max())


def test_audit_speaks_of_scores_where_its_search_does():
    """Sentence, table, title and page have the accuracy, and of a negative error that score."""
    search = GridSearchCV(*KNN, cv=5).fit(X, Y)
    found = tr.audit(search, X, Y)
    shown, hidden = numbers_of(found.honest)
    assert found.claimed.value == pytest.approx(search.best_score_)
    assert found.risks == pytest.approx(search.cv_results_["mean_test_score"])
    assert found.optimism == pytest.approx(found.claimed.value - found.honest.value)
    for view in (found.conclusion, str(found), found._repr_html_(), found.to_html()):
        assert shown <= read_in(view)
        assert not hidden & read_in(view)
    assert "level 'pairs', accuracy\n" in str(found)
    squared = GridSearchCV(*OF_NUMBERS["ridge"], cv=5, scoring="neg_mean_squared_error")
    errors = tr.audit(squared.fit(X, NUMBERS), X, NUMBERS)
    assert errors.claimed.value == pytest.approx(squared.best_score_)
    assert f"The search reports {format_number(squared.best_score_)}, " in errors.conclusion
    assert errors.honest.scoring == errors.claimed.scoring == "neg_mean_squared_error"
    assert errors.honest.value < 0
    assert "Report this score" in errors.to_html()


@pytest.mark.parametrize("scoring", [("auc",), ("zero-one", "auc", "log"), ()])
def test_page_has_one_auc(scoring):
    """That of the folds, with its calibrated interval; pooled ones and DeLong's stand nowhere."""
    found = assessed(*scoring)
    page, roc = plain(found.to_html().replace('id="rates"', 'id="shown"')), found.roc
    assert roc.interval is None
    assert "delong" not in page.casefold()
    told = set(re.findall(r"(?:AUC|ROC curve was) (\d\.\d{4})", page))
    if not scoring:
        assert told == {format_number(roc.auc)}
        assert "of all predictions pooled" in page
        return
    risk = found.risks[found.best]
    auc = risk if scoring == ("auc",) else risk.scores["auc"]
    assert told == {format_number(auc.value)}
    assert (
        f"AUC {format_number(auc.value)}, 95 % interval {format_number(auc.interval.low)} to"
        in page
    )
    assert str(auc.interval) in found.plot_roc().get_legend().get_texts()[0].get_text()


def test_page_of_a_validation_has_one_auc():
    """In its table, under its curve, and in the assessment that it is a part of."""
    found = tr.assess({"knn": KNN}, X, Y, cv=["5-fold"], validate=True)
    auc = found.validation.discrimination["auc"]
    assert found.validation.discrimination.roc.interval is None
    whole = found.to_html().replace('id="rates"', 'id="shown"')
    for page in (found.validation.to_html(), whole):
        told = set(re.findall(r"(?:AUC|AUC is|ROC curve was) (\d\.\d{4})", plain(page)))
        assert told == {format_number(auc.honest)}
        assert str(auc.interval) in plain(page)
