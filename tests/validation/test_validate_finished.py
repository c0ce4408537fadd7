"""`validate` of a finished model: as it is, on other people's rows, without a fit."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import truerisk as tr
from truerisk import Validation
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Refusal
from truerisk.validation.discrimination import AUC_AMONG_MEASURES_NOTE

RNG = np.random.default_rng(8)


def people(n, shift):
    """Rows, and whether they are ill."""
    rows = RNG.standard_normal((n, 3))
    ill = rows[:, 0] + 0.5 * rows[:, 1] + shift + RNG.logistic(size=n) > 0
    return rows, np.where(ill, "ill", "fit")


OWN, OTHERS = people(90, 0.0), people(240, -0.7)
X, Y = OTHERS
EVALUATED = "PROBAST+AI, evaluation"
PEOPLE = {*("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "3.1", "3.2", "3.3", "3.4")}
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(*OWN)


@pytest.fixture(scope="module")
def found():
    """The event is the second class, "ill"."""
    return tr.validate(MODEL, X, Y, prefit=True, subgroups={"side": X[:, 2] > 0})


def test_validate_finished_measures_the_predictions(found):
    """By scikit-learn's metrics, and by a logistic regression without a penalty."""
    p, ill = MODEL.predict_proba(X)[:, 1], Y == "ill"
    direct = {
        "auc": roc_auc_score(ill, p),
        "average-precision": average_precision_score(ill, p),
        "brier": brier_score_loss(ill, p),
    }
    for word, value in direct.items():
        assert found.measure(word).honest == pytest.approx(value), word
        assert found.measure(word).interval is not None
    line = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(p)[:, None], ill)
    assert found.calibration["slope"].honest == pytest.approx(line.coef_[0, 0], abs=1e-5)
    assert found.calibration["intercept"].honest == pytest.approx(line.intercept_[0], abs=1e-5)
    treated = p >= 0.2
    benefit = np.mean(treated & ill) - np.mean(treated & ~ill) * 0.25
    assert found.net_benefit.honest[19] == pytest.approx(benefit)
    assert (found.risk.scoring, found.risk.value) == ("log", pytest.approx(log_loss(ill, p)))
    # Of numbers R² and squared error, the line by least squares.
    y = X[:, 0] + RNG.standard_normal(len(X))
    model = Ridge(5.0).fit(OWN[0], OWN[0][:, 0])
    said, calibration = model.predict(X), tr.validate(model, X, y, prefit=True).calibration
    assert calibration["explained"].honest == pytest.approx(r2_score(y, said))
    assert calibration["squared"].honest == pytest.approx(mean_squared_error(y, said))
    line = LinearRegression().fit(said[:, None], y)
    assert calibration["slope"].honest == pytest.approx(line.coef_[0])
    assert calibration["slope"].interval.method == "sandwich"


def test_validate_finished_lacks_what_a_fit_would_tell(found):
    """No apparent value, no optimism, no stability; neither in tables nor on the page."""
    assert all(one.apparent is None and one.n == 0 for one in found.measures.values())
    assert (found.stability, found.net_benefit.apparent, found.n_samples) == (None, None, 0)
    assert found.calibration.curve.apparent is None
    assert "nothing was fitted" in found.missing["stability"]
    roc = found.discrimination.roc
    assert (roc.interval, roc.notes) == (None, (AUC_AMONG_MEASURES_NOTE,))
    assert found.net_benefit.notes == ()
    assert found.notes == ()
    assert not any("fold" in note for note in (*found.risk.notes, *found.calibration.notes))
    assert not any("fold" in note for note in found.subgroups.all_notes)
    for text in (str(found), found.to_html()):
        assert "apparent" not in text
        assert "optimism =" not in text
        assert "mean over folds" not in text
    assert not {"honest", "shrunken", "why"} & {*str(found).split()}


def test_validate_finished_fits_nothing(found, monkeypatch):
    """Not even in a copy, and whatever a fit would do; `FrozenEstimator` says the same."""
    assert tr.validate(GaussianNB(), X, Y, replicates=0).risk.method == "pairs (5-fold)"

    def fit(*arguments, **options):
        raise AssertionError

    for kind in (LogisticRegression, StandardScaler):
        monkeypatch.setattr(kind, "fit", fit)
    assert tr.validate(MODEL, X, Y, prefit=True, n_jobs=1).risk.n_fits == 0
    frozen = tr.validate(FrozenEstimator(MODEL), X, Y)
    assert frozen.calibration["slope"].honest == found.calibration["slope"].honest
    assert frozen.given == {"prefit": "True"}


def test_validate_finished_is_written_read_and_drawn_again(found):
    """The page from the file is the page, and says how to repeat it; its JSON has no NaN."""
    json.dumps(found.to_dict(), allow_nan=False)
    text = found.to_json()
    again = Validation.from_json(text)
    assert again.finished
    assert again.to_json() == text
    page = again.to_html()
    assert page == found.to_html()
    assert "A finished model was applied to 240 rows; nothing was fitted." in page
    assert "new rows, with their band" in page
    shown = (found, found.calibration, found.net_benefit)
    for view in (page, *(part._repr_html_() for part in shown)):  # Nothing was held out.
        assert "held-out" not in view
        assert "held out" not in view
    assert "tr.validate(model, X, y, prefit=True" in page


def test_validate_finished_says_what_it_is(found):
    said = found.checklist.methods_text
    start = "(StandardScaler → LogisticRegression), was applied to them; nothing was fitted."
    assert start in said
    assert "held out" not in said
    assert "Not done" not in said
    answers = {(i.guideline, i.number): i.answer for i in found.checklist.items}
    assert answers["TRIPOD+AI", "4"] == "To evaluate a finished model."
    developed = {said for (which, _), said in answers.items() if which.endswith("development")}
    assert developed == {"does not apply: nothing was developed on these rows."}
    evaluated = {number: said for (which, number), said in answers.items() if which == EVALUATED}
    assert {number for number, said in evaluated.items() if said is None} == PEOPLE - {"2.2"}
    assert evaluated["2.2"].startswith("StandardScaler: the same for all rows of a model.")
    for number in ("4.5", "4.6"):
        assert evaluated[number].startswith("does not apply: nothing was fitted to these rows")
    assert answers["TRIPOD+AI", "7"].startswith("StandardScaler, as they are in the finished model")
    auc = found.discrimination["auc"].honest
    needed = tr.plan_validation(prevalence=np.mean(Y == "ill"), auc=auc).n
    assert f"{needed} rows are needed, and 240 were tested;" in evaluated["4.2"]
    assert "served evaluation alone" in answers["TRIPOD+AI", "12a"]
    assert all("training" not in (answer or "") for answer in answers.values())


def test_validate_finished_leaves_gaps_to_the_model():
    model = HistGradientBoostingClassifier(max_iter=2).fit(*OWN)
    gappy = X.copy()
    gappy[:5, 0] = np.nan
    told = tr.validate(model, gappy, Y, prefit=True).checklist
    assert "Missing values (5 participants) were left to the finished model." in told.methods_text
    answers = {(i.guideline, i.number): i.answer for i in told.items}
    assert "5 rows, left to the finished model" in answers["TRIPOD+AI", "11"]
    assert "5 rows, left to the finished model" in answers[EVALUATED, "4.3"]


def test_validate_finished_counts_groups_as_one():
    thrice = np.tile(np.arange(len(Y)), 3)
    alone = tr.validate(MODEL, X, Y, prefit=True)
    grouped = tr.validate(MODEL, X[thrice], Y[thrice], prefit=True, groups=thrice)
    for word in ("auc", "brier", "slope"):
        one, other = alone.measure(word), grouped.measure(word)
        assert other.honest == pytest.approx(one.honest)
        assert other.std_error == pytest.approx(one.std_error, rel=0.02)
    assert grouped.updating.updates[1].interval.method == "paired-cv-grouped"
    answers = {(i.guideline, i.number): i.answer for i in grouped.checklist.items}
    assert answers["TRIPOD+AI", "12d"] == "Each of the 240 groups counts as one in every interval."
    assert "intervals take the 240 clusters as independent." in grouped.checklist.methods_text
    assert not any("groups are few" in note for note in grouped.notes)
    # Two groups give one degree of freedom.
    few = tr.validate(MODEL, X, Y, prefit=True, groups=np.arange(len(Y)) % 2)
    remarks = [note for note in few.notes if note.startswith("2 groups are few: intervals")]
    assert len(remarks) == 1
    slope = few.measure("slope")
    assert slope.interval.high - slope.honest == pytest.approx(12.7062 * slope.std_error, rel=1e-5)
    # Twice the weight is a copy, also for a model that was fitted without any.
    twice = np.r_[np.arange(len(Y)), np.arange(50)]
    w = np.where(np.arange(len(Y)) < 50, 2.0, 1.0)
    weighted = tr.validate(MODEL, X, Y, prefit=True, sample_weight=w)
    copied = tr.validate(MODEL, X[twice], Y[twice], prefit=True)
    for word in ("auc", "slope", "brier"):
        assert weighted.measure(word).honest == pytest.approx(copied.measure(word).honest)


def test_validate_finished_of_rows_in_time_is_no_temporal_validation():
    """When the model was made is not known; intervals count that rows depend on each other."""
    told = tr.validate(MODEL, X, Y, prefit=True, time=np.arange(len(Y)))
    assert told.risk.interval.method == "hac"
    assert told.calibration["slope"].interval is None
    assert "emporal" not in str(told.checklist)
    assert "as independent" not in told.checklist.methods_text


def test_validate_finished_tells_a_search_in_its_own_loss():
    search = tr.HonestSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, scoring="log", confidence_level=0.9, cv="4-fold"
    ).fit(*OWN)
    told = tr.validate(search, X, Y, prefit=True)
    assert (told.risk.scoring, told.risk.interval.confidence_level) == ("log", 0.9)
    text = told.checklist.methods_text
    assert "A finished model, ridge logistic regression (LogisticRegression), was" in text
    assert told.updating.updates[1].interval.confidence_level == 0.9
    untested = tr.HonestSearchCV(LogisticRegression(), outer=None, cv="4-fold").fit(*OWN)
    for one in (search, untested):
        with pytest.raises(Refusal, match="fitted on these very rows"):
            tr.validate(one, *OWN, prefit=True)
    with pytest.raises(Refusal, match="prefit=True validates it on rows"):
        tr.validate(search, X, Y)


def test_validate_takes_the_level_of_the_call():
    """Of a model, finished or not, also one that was a search; a search to be run has its own."""
    search = tr.HonestSearchCV(LogisticRegression(), {"C": [1]}, cv="4-fold").fit(*OWN)
    for one, words in ((MODEL, {"prefit": True}), (MODEL, {"replicates": 0})):
        found = tr.validate(one, X, Y, confidence_level=0.8, **words)
        assert {found.measure(word).interval.confidence_level for word in ("auc", "slope")} == {0.8}
        assert "with 80% confidence intervals" in found.checklist.methods_text
        assert "confidence_level=0.8" in found.to_html()
    found = tr.validate(search, X, Y, confidence_level=0.8, prefit=True)
    assert found.risk.interval.confidence_level == 0.8
    with pytest.raises(Refusal, match="confidence_level=0.8 is that of the search"):
        tr.validate(search, *OWN, confidence_level=0.8)
    with pytest.raises(BadArgument, match="confidence_level"):
        tr.validate(MODEL, X, Y, confidence_level=80, prefit=True)


class Silent(LogisticRegression):
    """Has no answer about two rows."""

    def predict_proba(self, X):
        """Of two classes."""
        p = super().predict_proba(X)
        p[[7, 9]] = np.nan
        return p


FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
THREE = GaussianNB().fit(OWN[0], np.where(OWN[0][:, 2] > 1, "dead", OWN[1]))


@pytest.mark.parametrize(
    ("model", "rows", "words", "error", "sentence"),
    [
        (LogisticRegression(), X, {}, Refusal, "LogisticRegression is not fitted"),
        (LogisticRegression, X, {}, UnknownName, "is not an estimator instance|is a class"),
        (MODEL, X[:, :2], {}, Refusal, "cannot answer about these rows: .* 2 features"),
        (
            LogisticRegression().fit(FRAME, Y),
            FRAME.rename(columns={"c": "d"}),
            {},
            Refusal,
            "cannot answer about these rows: .* feature names should match",
        ),
        (Silent().fit(*OWN), X, {}, Refusal, "NaN or infinity about 2 rows, the first is row 7"),
        (MODEL, np.where(X > 2, np.nan, X), {}, Refusal, "cannot answer .* NaN"),
        (LogisticRegression().fit(X, Y == "ill"), X, {}, Refusal, "classes False, True apart"),
        (THREE, X, {}, Refusal, "classes 'dead', 'fit', 'ill' apart, and y has 'fit', 'ill'"),
        (MODEL, X, {"replicates": 5}, Refusal, "replicates=5 asks for fits"),
        (MODEL, X, {"samples": np.zeros((2, 240), int)}, Refusal, "samples=.* asks for fits"),
        (MODEL, X, {"eval_set": 3}, Refusal, "eval_set=3 asks for fits"),
        (MODEL, X, {"prefit": "yes"}, BadArgument, "prefit='yes': use True or False"),
        (MODEL, X[:100], {}, BadData, "100"),
    ],
)
def test_validate_finished_refuses(model, rows, words, error, sentence):
    with pytest.raises(error, match=sentence):
        tr.validate(model, rows, Y, **{"prefit": True, **words})


def test_validate_finished_tells_an_update(found):
    """On the page, in the paragraph, in the checklist; why there is none where there is none."""
    said = found.updating.sentence
    assert said in found.checklist.methods_text
    answers = {(i.guideline, i.number): i.answer for i in found.checklist.items}
    assert answers["TRIPOD+AI", "12f"] == f"Not here. {said}"
    assert 'id="updating"' in found.to_html()
    assert found.updating.updates[1].intercept == found.calibration["in-the-large"].honest
    other = tr.validate(MODEL, X, Y, prefit=True, random_state=1).updating  # by other folds
    assert other.updates[0].risk == pytest.approx(found.updating.updates[0].risk)
    assert other.updates[1].risk != pytest.approx(found.updating.updates[1].risk)
    turned = tr.validate(MODEL, X, Y, prefit=True, positive="fit").updating.updates
    for one, mirrored in zip(found.updating.updates, turned, strict=True):
        assert mirrored.intercept == pytest.approx(-one.intercept)
        assert mirrored.slope == pytest.approx(one.slope)
    assert turned[0].risk == pytest.approx(found.updating.updates[0].risk)
    in_time = tr.validate(MODEL, X, Y, prefit=True, time=np.arange(len(Y)))
    assert "depend on each other" in in_time.missing["updating"]
    ranks = tr.validate(LinearSVC().fit(*OWN), X, Y, prefit=True)
    assert ranks.missing["updating"].startswith("decision values have neither")
    assert ranks.discrimination["auc"].interval is not None
    assert ranks.missing["calibration"].startswith("LinearSVC gives no probabilities")
    folds = tr.validate(GaussianNB(), X, Y, replicates=0)
    assert (folds.updating, "updating" in folds.missing) == (None, False)
