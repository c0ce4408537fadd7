"""A score is read as a score in every view: nobody who asks for AUC is told 1 − AUC."""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.core.present import number
from truerisk.results.interval import ERROR, Interval, Scale, tied

X, Y = make_classification(150, 6, flip_y=0.2, random_state=1)
NUMBERS = X @ np.arange(6.0) + np.random.default_rng(0).normal(0, 8, 150)
KNN = (KNeighborsClassifier(), {"n_neighbors": [5, 15, 31]})
CLASSES = {"knn": KNN, "logistic": (LogisticRegression(), {"C": [0.01, 1.0]})}
OF_NUMBERS = {
    "knn": (KNeighborsRegressor(), {"n_neighbors": [5, 15]}),
    "ridge": (Ridge(), {"alpha": [0.1, 10.0]}),
}


def numbers_of(*estimates) -> tuple[set[str], set[str]]:
    """What is shown of scores, and the risks behind them, as they would be printed."""
    shown, hidden = set(), set()
    for one in estimates:
        own = one.own_scale
        shown |= {number(v) for v in (own.value, own.interval.low, own.interval.high)}
        hidden |= {number(v) for v in (one.value, one.interval.low, one.interval.high)}
    return shown, hidden - shown


def plain(page: str) -> str:
    """What a reader sees and hears, without what is of single thresholds and probabilities."""
    page = re.sub(r'<section id="(rates|calibration)".*?</section>', "", page, flags=re.DOTALL)
    page = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    said = re.findall(r'(?:aria-label|data-said)="([^"]*)"', page)
    return " ".join([re.sub(r"<[^>]*>", " ", page), *said])


def test_a_scale_turns_values_intervals_and_differences():
    """Perfect − risk, the ends of intervals swapped; errors stay as they are."""
    auc, interval = Scale(1.0), Interval(0.25, 0.5, "wald")
    assert (auc.value(0.25), auc.interval(interval).low, auc.gap(0.25)) == (0.75, 0.5, -0.25)
    assert (auc.gaps(interval).low, auc.gaps(interval).high) == (-0.5, -0.25)
    assert auc.value(None) is None
    assert auc.interval(None) is auc.gaps(None) is None
    assert ERROR.interval(interval) is ERROR.gaps(interval) is interval
    assert (ERROR.value(0.25), ERROR.gap(0.25)) == (0.25, 0.25)


@pytest.mark.parametrize(
    ("learners", "y", "loss"),
    [
        (CLASSES, Y, "auc"),
        (CLASSES, Y, "average-precision"),
        (CLASSES, Y, "f1"),
        (CLASSES, Y, "roc_auc"),
        (CLASSES, Y, "accuracy"),
        (OF_NUMBERS, NUMBERS, "r2"),
    ],
)
def test_no_view_of_an_assessment_has_the_risk_of_a_score(learners, y, loss):
    """Print, conclusion, page, notebook: the scores stand there, the risks nowhere."""
    found = tr.assess(learners, X, y, cv=["5-fold"], scoring=loss)
    honest = [found.choice, *found.risks.values()]
    risk = found.risks[found.best]
    shown, hidden = numbers_of(*honest)
    page, printed = plain(found.to_html()), str(found)
    for view in (page, printed, found._repr_html_()):
        read = set(re.findall(r"\d+\.\d{4}", plain(view)))
        assert shown <= read
        assert not hidden & read
    assert f"Report {number(found.choice.score)} (" in found.conclusion
    assert "Report this score" in page
    assert "larger is better" in printed
    assert "lower is better" not in page + printed
    assert f"with {risk.named_scoring} {number(risk.score)} (95 % interval" in page
    content = found.to_dict()
    assert content["choice"]["value"] == found.choice.value
    assert content["choice"]["score"] == found.choice.score


def test_errors_stay_errors():
    """Lower is better, and the value is the risk."""
    found = tr.assess(CLASSES, X, Y, cv=["5-fold"])
    assert f"Report {number(found.choice.value)} (" in found.conclusion
    assert "Report this risk" in found.to_html()
    assert "score" not in found.to_dict()["choice"]


def test_the_choice_has_its_further_scores():
    """What to report of each score is that of the whole search."""
    found = tr.assess(CLASSES, X, Y, cv=["5-fold"], scoring=["zero-one", "auc", "log"])
    table = found.scorecard()
    whole = table[table["learner"] == "whole search"].set_index("score")["honest"]
    assert whole.to_dict() == {
        "auc of 1": found.choice.scores["auc"].score,
        "log": found.choice.scores["log"].value,
    }
    page = plain(found.to_html())
    for view in (str(found), page):
        assert "whole search" in view
        assert str(found.choice.scores["auc"].score_interval) in view


def test_figures_of_matplotlib_are_of_scores():
    """Ladder, splits, curve: on the scale of the score, whose name is on the axis."""
    method = tr.methods.MonteCarlo(4)
    found = tr.assess(CLASSES, X, Y, cv=["5-fold"], outer=method, scoring="auc")
    drawn = {
        "auc of 1 (larger is better)": found.plot_ladder(),
        "score of one split (auc of 1)": found.plot_monte_carlo(),
    }
    for label, axes in drawn.items():
        assert axes.get_xlabel() == label
        values = chain.from_iterable(line.get_xdata() for line in axes.lines)
        assert min(values) >= 0.5
    curve = found.plot_curve()
    assert curve.get_ylabel() == "auc of 1 (larger is better)"
    best = found.curves[found.best]
    assert curve.lines[0].get_ydata().max() == pytest.approx(1 - best.values.min())


def test_an_audit_speaks_of_scores_where_its_search_does():
    """Sentence, table, title and page have the accuracy; a squared error stays an error."""
    search = GridSearchCV(*KNN, cv=5).fit(X, Y)
    found = tr.audit(search, X, Y)
    shown, hidden = numbers_of(found.honest)
    assert found.honest.score == pytest.approx(1 - found.honest.value)
    for view in (found.conclusion, str(found), found._repr_html_(), plain(found.to_html())):
        assert shown <= set(re.findall(r"\d+\.\d{4}", view))
        assert not hidden & set(re.findall(r"\d+\.\d{4}", view))
    assert "level 'pairs', accuracy\n" in str(found)
    squared = GridSearchCV(*OF_NUMBERS["ridge"], cv=5, scoring="neg_mean_squared_error")
    errors = tr.audit(squared.fit(X, NUMBERS), X, NUMBERS)
    said = f"−best_score_ {number(errors.claimed.value)} "
    assert errors.conclusion.startswith(said)
    assert errors.honest.scoring == errors.claimed.scoring == "squared"
    assert "Report this risk" in errors.to_html()


@pytest.mark.parametrize("asked", [{"scoring": "auc"}, {"scoring": ["zero-one", "auc"]}, {}])
def test_there_is_one_auc_on_a_page(asked):
    """That of the folds, with its calibrated interval; pooled ones and DeLong's stand nowhere."""
    found = tr.assess(CLASSES, X, Y, cv=["5-fold"], **asked)
    page, roc = plain(found.to_html().replace('id="rates"', 'id="shown"')), found.roc
    assert roc.interval is None
    assert "delong" not in page.casefold()
    told = set(re.findall(r"(?:AUC|ROC curve was) (\d\.\d{4})", page))
    if not asked:
        assert told == {number(roc.auc)}
        assert "of all predictions pooled" in page
        return
    risk = found.risks[found.best]
    auc = risk if asked.get("scoring") == "auc" else risk.scores["auc"]
    assert told == {number(auc.score)}
    assert f"AUC {number(auc.score)}, 95 % interval {number(auc.score_interval.low)} to" in page
    axes = found.plot_roc()
    assert str(auc.score_interval) in axes.get_legend().get_texts()[0].get_text()


def test_a_validation_has_one_auc():
    """In its table, under its curve, and in the assessment that it is a part of."""
    found = tr.assess({"knn": KNN}, X, Y, cv=["5-fold"], validate=True)
    auc = found.validation.discrimination["auc"]
    assert found.validation.discrimination.roc.interval is None
    whole = found.to_html().replace('id="rates"', 'id="shown"')
    for page in (found.validation.to_html(), whole):
        told = set(re.findall(r"(?:AUC|AUC is|ROC curve was) (\d\.\d{4})", plain(page)))
        assert told == {number(auc.honest)}
        assert str(auc.interval) in plain(page)


@pytest.mark.parametrize("unit", [1e-200, 1e-14, 1.0, 1e9])
def test_no_unit_of_a_loss_counts(unit):
    """A last bit is a tie and a millionth is none, for positive and for negative risks."""
    risks = unit * np.array([1.0, 1 + 1e-15, 1 + 1e-6, 2.0])
    assert tied(risks, risks[0]).tolist() == [True, True, False, False]
    assert tied(-risks, -risks[3]).tolist() == [False, False, False, True]


def test_nothing_but_0_ties_with_0():
    """A risk of 0 has no last bit; what failed, at infinity, ties with what failed."""
    assert tied(np.array([0.0, 1e-300, np.inf]), 0.0).tolist() == [True, False, False]
    assert tied(np.inf, np.inf)
