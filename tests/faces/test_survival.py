"""Outcomes in time through the calls: as GridSearchCV, at a horizon, and refused elsewhere."""

from itertools import count

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.checklists import answers_of
from tests.support.survival import Exponential, drawn_times

import truerisk as tr
from truerisk.exceptions import FitFailed
from truerisk.extend import BadArgument, BadData, Data, Refusal

X, Y = drawn_times()
GRID = {"alpha": [0.1, 10.0, 1000.0]}


def concordance(y, risk):
    """Harrell's C, of untied times."""
    known = (y["time"][:, None] < y["time"]) & y["event"][:, None]
    right = np.sign(risk[:, None] - risk) / 2 + 0.5
    return (right * known).sum() / known.sum()


@pytest.fixture(scope="module")
def search():
    """Tuned by the usual score in the words of GridSearchCV."""
    scoring = ["concordance", "uno", "brier-at-2", "auc-at-2", "integrated-brier"]
    return tr.HonestSearchCV(Exponential(), GRID, cv=KFold(4), scoring=scoring).fit(X, Y)


def test_search_rates_settings_by_the_mean_score_of_the_folds(search):
    scores = [
        concordance(Y[test], Exponential(alpha).fit(X[train], Y[train]).predict(X[test]))
        for alpha in GRID["alpha"]
        for train, test in KFold(4).split(X)
    ]
    means = np.reshape(scores, (-1, 4)).mean(axis=1)
    assert search.cv_results_["mean_test_concordance"] == pytest.approx(means)
    assert search.best_params_["alpha"] == GRID["alpha"][int(np.argmax(means))]
    assert search.risk_.scoring == "concordance"
    for name, one in search.risk_.scores.items():
        assert one.value in one.interval, name


def test_search_tells_curves_and_scores_of_the_tuned_model(search):
    ranked = tr.HonestSearchCV(Exponential(), GRID, scoring="concordance").fit(X, Y)
    assert ranked.score(X, Y) == pytest.approx(concordance(Y, ranked.predict(X)))
    (first,) = search.predict_survival_function(X[:1])
    (same,) = search.best_estimator_.predict_survival_function(X[:1])
    assert first(3.0) == same(3.0)
    brier = tr.HonestSearchCV(Exponential(), GRID, scoring="brier-at-2").fit(X, Y)
    assert brier.score(X, Y) < 0  # as scikit-learn counts


def test_scoring_by_a_function_is_given_the_pairs():

    def spread(model, X, y):
        assert y.dtype == Y.dtype
        return float(np.std(model.predict(X)))

    found = tr.HonestSearchCV(Exponential(), GRID, scoring=spread).fit(X, Y)
    assert found.best_params_ == {"alpha": 0.1}


def test_folds_hold_events_alike():
    X, y = drawn_times(100)
    y["event"] = np.arange(100) % 10 == 0
    curve = tr.risk_curve(Exponential(), GRID, X, y, cv="10-fold")
    assert curve[curve.best].value is not None


class ByTwo(ClassifierMixin, BaseEstimator):
    """The chance of the event by 2, as a classifier."""

    def __init__(self, model):
        self.model, self.classes_ = model, np.array(["after 2", "by 2"])

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        later = np.array([curve(2.0) for curve in self.model.predict_survival_function(X)])
        return np.column_stack([later, 1 - later])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_validate_at_a_horizon_is_that_of_weighted_classes():
    model, (fresh, y) = Exponential().fit(X, Y), drawn_times(200, seed=5)
    found = tr.validate(model, fresh, y, prefit=True, horizon=2.0)
    at = Data.check(fresh, y, task="survival").at_horizon(2.0)
    labels = at.classes[at.codes]
    plain = tr.validate(ByTwo(model), fresh, labels, prefit=True, sample_weight=at.sample_weight)
    follow_up = {"concordance", "uno", "cox-slope"}
    assert found.measures.keys() - plain.measures.keys() == follow_up
    for word, one in plain.measures.items():
        if word == "oe":  # The rows that were censored before have their risks counted, too.
            continue
        assert found.measure(word).honest == pytest.approx(one.honest), word
        if word != "brier":
            assert found.measure(word).interval == one.interval, word
    # that of Brier's score counts how the chance of being followed varies, as brier-at-2 does
    assert found.measure("brier").interval.width == pytest.approx(
        plain.measure("brier").interval.width, rel=0.02
    )
    p, w = ByTwo(model).predict_proba(fresh)[:, 1], at.sample_weight
    assert found.measure("auc").honest == pytest.approx(roc_auc_score(at.codes, p, sample_weight=w))
    brier = brier_score_loss(at.codes, p, sample_weight=w)
    assert found.measure("brier").honest == pytest.approx(brier)
    before = found.updating.updates[0].risk
    assert before == pytest.approx(log_loss(at.codes, p, sample_weight=w))


def test_validate_takes_a_fitted_search_at_any_horizon(search):
    for horizon in (2.0, 3.5):
        found = tr.validate(search, X, Y, horizon=horizon, replicates=2)
        assert found.risk.value == search.risk_.value
        assert found.rows["event"] == f"by {horizon:g}"
        assert found.rows["n_events"] == (Y["event"] & (Y["time"] <= horizon)).sum()
        censored = (~Y["event"] & (Y["time"] <= horizon)).sum()
        assert found.rows["n_censored"] == censored > 0
        assert f"{(Y['time'] > horizon).sum()} were followed longer without it; " in str(found)
        assert found.held_out.answers.shape == (len(X), 2)
    two = tr.validate(search, X, Y, horizon=2.0, replicates=0)
    assert "Probability of the event (by 2): a restricted cubic spline" in two.to_html()
    held = two.held_out
    areas = [
        roc_auc_score(held.truth[of], held.answers[of, 1], sample_weight=held.weights[of])
        for of in (held.fold == fold for fold in np.unique(held.fold))
    ]
    assert two.measure("auc").honest == pytest.approx(np.mean(areas))


def test_validate_does_not_take_answers_about_another_horizon(search):
    fitted, fresh = (
        tr.validate(one, X, Y, horizon=1.0, replicates=0)
        for one in (search, tr.HonestSearchCV(Exponential(), GRID, cv=KFold(4)))
    )
    assert fitted.held_out.answers == pytest.approx(fresh.held_out.answers)
    for word in ("brier", "slope", "in-the-large", "r2"):
        assert fitted.measure(word).honest == pytest.approx(fresh.measure(word).honest), word
        told, made = (one.measure(word).interval for one in (fitted, fresh))
        assert (told is None) == (made is None), word
        if told is not None:
            assert (told.low, told.high) == pytest.approx((made.low, made.high), rel=1e-12), word


class Lasting(Exponential):
    """It predicts the time, and says so as scikit-survival does."""

    _predict_risk_score = False

    def predict(self, X):
        return -super().predict(X)

    def fit(self, X, y):
        super().fit(X, y)
        self.rate_ = 1.0
        return self


SCALED = make_pipeline(StandardScaler(), Exponential(0.0))


@pytest.mark.parametrize(
    ("model", "units", "plain", "scoring", "tolerance"),
    [
        pytest.param(
            *(SCALED, [1.0, 20.0, 0.1], Exponential(0.0), "brier-at-2", {}), id="curves of a step"
        ),
        *[
            pytest.param(model, 1.0, Exponential(), None, {"abs": 0.01}, id=name)
            for name, model in (
                ("times", Lasting()),
                ("times of a step", make_pipeline(StandardScaler(), Lasting())),
            )
        ],
    ],
)
def test_estimate_risk_reads_curves_and_times_as_those_of_a_plain_model(
    model, units, plain, scoring, tolerance
):
    """Curves and times are read through the steps of a pipeline.

    A predicted time is larger if the event comes later, whereas a risk score is smaller.
    """
    words = {"cv": "5-fold", "scoring": scoring}
    expected = tr.estimate_risk(plain, X, Y, **words).value
    found = tr.estimate_risk(model, X * units, Y, **words).value
    assert found == pytest.approx(expected, **tolerance)


class Unweighed(Exponential):
    """As a survival forest: without coefficients, and its importances are not implemented."""

    def fit(self, X, y):
        super().fit(X, y)
        self.slopes_ = vars(self).pop("coef_")
        return self

    def predict(self, X):
        own = vars(self)
        return (X - self.mean_) @ own.get("slopes_", own.get("coef_"))

    @property
    def feature_importances_(self):
        raise NotImplementedError


def test_validate_does_without_importances():
    found = tr.validate(Unweighed(), X, Y, horizon=2.0, replicates=0)
    assert found.stability.features is not None


def test_checklist_counts_rows_by_the_criteria_of_times_to_an_event():
    """As if the rate, the follow-up and this R² had been planned; those who were lost are said."""
    found = tr.validate(Exponential(), X, Y, horizon=2.0, replicates=0)
    lost = (~Y["event"] & (Y["time"] <= 2)).sum()
    text = found.checklist.methods_text
    came = (Y["event"] & (Y["time"] <= 2)).sum()
    assert f"of whom {Y['event'].sum()} had the event during follow-up (median follow-up " in text
    assert f"By 2 [unit of time], {came} had had the event and {lost} were censored; inv" in text
    assert "Harrell's C 0." in text
    words = {"parameters": X.shape[1], "nagelkerke": found.measure("r2").honest, "horizon": 2.0}
    rate, follow_up = Y["event"].sum() / Y["time"].sum(), Y["time"].mean()
    wanted = tr.plan_development("time-to-event", rate=rate, follow_up=follow_up, **words).n
    answer = answers_of(found.checklist)["4.1"]
    assert f": {wanted} rows are needed, and there are {len(X)}. " in answer


def test_assess_validates_the_best_learner():
    learners = {"a": (Exponential(), GRID), "b": make_pipeline(StandardScaler(), Exponential())}
    found = tr.assess(learners, X, Y, validate={"horizon": 2.0, "replicates": 0})
    assert found.no_validation is None
    assert found.validation.measure("brier").honest is not None
    assert found.scoring == "concordance"


class Wild(Exponential):
    """Its curves leave 0 to 1."""

    def predict_survival_function(self, X):
        return [lambda t: 1.5 + 0 * np.asarray(t) for _ in X]


LINE = LogisticRegression()
REFUSED = [
    (tr.validate, Exponential(), Y, {}, Refusal, "name the time by which"),
    (tr.validate, Exponential(), Y, {"horizon": 1e6}, Refusal, "followed past the time 1000000"),
    (tr.validate, Exponential(), Y, {"horizon": [2, 3]}, BadArgument, r"horizon=\[2, 3\]: give a"),
    (tr.validate, Exponential(), Y, {"horizon": "5"}, BadArgument, "horizon='5': give a time of y"),
    (tr.validate, Exponential(), Y, {"horizon": 1e-6}, Refusal, "in no row by .* 1e-06: the first"),
    (tr.validate, LINE, Y["event"], {"horizon": 5}, Refusal, "horizon=5 is a time .*y holds none"),
    (tr.validate, Exponential(), Y, {"horizon": 2, "positive": "by 2"}, Refusal, "came by the hor"),
    (tr.estimate_risk, LINE, Y, {}, BadData, "pairs of an event and a time, which models of surv"),
    (tr.estimate_risk, Exponential(), Y["event"], {}, BadData, "y is no outcome in time"),
    (tr.estimate_risk, Wild(), Y, {"scoring": "brier-at-2"}, FitFailed, "1.5, and chances lie"),
]


@pytest.mark.parametrize(("verb", "model", "y", "words", "error", "message"), REFUSED, ids=count())
def test_outcome_in_time_that_is_asked_wrongly_is_refused(verb, model, y, words, error, message):
    with pytest.raises(error, match=message):
        verb(model, X, y, **words)


def test_answers_by_row_of_curves_hold_the_probability_by_each_horizon(search):
    frame = search.risk_.answers_by_row()
    times = [float(name.removeprefix("probability_by_")) for name in frame if "_by_" in name]
    assert len(times) == 51  # 50 steps of the integrated score, and 2
    assert times == sorted(times)
    for place, (train, test) in enumerate(KFold(4).split(X)):
        setting = search.outer_[place].params
        model = Exponential(**setting).fit(X[train], Y[train])
        curves = model.predict_survival_function(X[test])
        rows = frame[frame["row"].isin(test)]
        assert rows["probability_by_2"].tolist() == pytest.approx([1 - f(2) for f in curves])
        first = f"probability_by_{times[0]:.12g}"
        assert rows[first].tolist() == pytest.approx([1 - f(times[0]) for f in curves])
    found = tr.estimate_risk(Exponential(), X, Y, cv="5-fold", scoring="brier-at-2")
    names = ["row", "fold", "truth_0", "truth_1", "probability_by_2"]
    assert list(found.answers_by_row()) == names


# Scores of a finished model

ELSEWHERE = drawn_times(n=90, seed=5)


def followed_before(y, at):
    """Return the Kaplan and Meier chance of being followed up to just before each time."""
    lost = np.unique(y["time"][~y["event"]])
    gone = np.array([(y["time"][~y["event"]] == t).sum() for t in lost])
    later = np.array([(y["time"] > t).sum() for t in lost])
    steps = 1 - gone / (later + gone)
    return np.array([np.prod([s for t, s in zip(lost, steps, strict=True) if t < a]) for a in at])


def test_validate_has_uno_and_integrated_brier_of_plain_loops():
    Z, z = ELSEWHERE
    model = Exponential().fit(X, Y)
    words = {"prefit": True, "horizon": 2, "scoring": ["uno", "integrated-brier"]}
    found = tr.validate(model, Z, z, **words)
    risk, event, time = model.predict(Z), z["event"], z["time"]
    pairs = (event[:, None] & (time[:, None] < time)) / followed_before(z, time)[:, None] ** 2
    right = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    assert found.risk.value == pytest.approx((pairs * right).sum() / pairs.sum())
    before = time[time < time.max()]
    until = float(np.quantile(before, 0.9, method="lower"))
    curves, total = model.predict_survival_function(Z), 0.0
    for step in range(1, 51):
        h = step * until / 50
        gone = np.where((time <= h) & event, 1 / followed_before(z, time), 0.0)
        here = np.where(time > h, 1 / followed_before(z, [h + 1e-12])[0], 0.0)
        p = np.array([1 - f(h) for f in curves])
        brier = (gone * (1 - p) ** 2 + here * p**2).sum() / len(z)
        total += brier * (0.5 if step == 50 else 1.0) / 50
    score = found.risk.scores["integrated-brier"]
    assert score.value == pytest.approx(total)
    assert score.value in score.interval
    assert "integrated-brier" in str(found)


def test_validate_takes_scoring_of_a_model_and_refuses_it_of_a_search(search):
    given = {"horizon": 2, "replicates": 0, "scoring": ["concordance", "uno"]}
    found = tr.validate(Exponential(), X, Y, **given)
    assert "uno" in found.risk.scores
    with pytest.raises(Refusal, match=r"scoring=.* is that of the search: give it to"):
        tr.validate(search, X, Y, **given)


@pytest.mark.parametrize(
    "scoring",
    [["concordance", "auc-at-2", "brier-at-2"], {"c": "concordance"}, "concordance"],
    ids=str,
)
def test_validate_at_a_horizon_has_the_interval_of_the_score(search, scoring):
    asked = tr.HonestSearchCV(Exponential(), GRID, cv=KFold(4), scoring=scoring).fit(X, Y)
    found = tr.validate(asked, X, Y, horizon=2, replicates=0)
    for word in ("auc", "brier"):
        score, measure = search.scores_[f"{word}-at-2"], found.measures[word]
        assert measure.honest == pytest.approx(score.value)
        ends = (score.interval.low, score.interval.high)
        assert (measure.interval.low, measure.interval.high) == pytest.approx(ends)
