"""`validate`: from a search or a model to its parts, or a sentence."""

from concurrent.futures import ThreadPoolExecutor

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, LinearSVC
from tests.support.rms_data import drawn

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Refusal

X, Y, _ = drawn()
GRID = {"var_smoothing": [1e-9, 1e-1]}


def searched(**words):
    """A small search."""
    return tr.HonestSearchCV(GaussianNB(), GRID, cv="4-fold", **words)


@pytest.mark.parametrize("outer", ["pairs", "5-fold", "2x3-fold"])
def test_validate_does_not_fit_a_fitted_search_again(outer):
    """What it keeps, and what an unfitted one finds, are the same to the last digit."""
    halves = {"replicates": 0, "subgroups": {"half": np.arange(len(Y)) % 2}}
    fitted = searched(outer=outer).fit(X, Y)
    found, anew = (tr.validate(s, X, Y, **halves) for s in (fitted, searched(outer=outer)))
    np.testing.assert_array_equal(found.held_out.answers, anew.held_out.answers)
    np.testing.assert_array_equal(found.held_out.fit, anew.held_out.fit)
    assert found.risk.value == fitted.risk_.value
    assert found.subgroups.to_dict() == anew.subgroups.to_dict()
    for word, measured in found.measures.items():
        assert measured.honest == pytest.approx(anew.measures[word].honest)
        assert measured.apparent == pytest.approx(anew.measures[word].apparent)


def test_validate_has_the_scores_of_the_search():
    """AUC with value and interval is `scores_["auc"]` where that was asked for."""
    fitted = searched(scoring=["zero-one", "auc", "brier"]).fit(X, Y)
    found = tr.validate(fitted, X, Y, replicates=0)
    auc = fitted.scores_["auc"]
    assert found.discrimination["auc"].honest == pytest.approx(auc.value)
    assert found.discrimination["auc"].interval == auc.interval
    assert "brier" in found.calibration
    assert "x" not in found.calibration
    assert found.calibration["brier"].interval == fitted.scores_["brier"].interval
    without = tr.validate(searched(scoring="log").fit(X, Y), X, Y, replicates=0)
    asked = searched(scoring=["log", "auc"]).fit(X, Y).scores_["auc"].interval
    assert without.discrimination["auc"].interval == asked


def test_validate_keeps_the_answers_that_were_tested():
    """A forest without a seed: its labels are those of the tested probabilities."""
    forest = tr.HonestSearchCV(RandomForestClassifier(5), {"max_depth": [1, 3]}, cv="4-fold")
    risk = forest.fit(X, Y).risk_
    held = tr.validate(forest, X, Y, replicates=0).held_out
    wrong = held.answers.argmax(axis=1) != held.truth
    losses = risk.losses[np.argsort(risk.loss_rows)]
    np.testing.assert_array_equal(losses, wrong[np.argsort(held.rows)])


def test_validate_repeats_its_samples_by_the_seed():
    first, again, other = (
        tr.validate(GaussianNB(), X, Y, replicates=5, random_state=seed) for seed in (1, 1, 2)
    )
    for name in ("discrimination", "calibration", "net_benefit", "stability"):
        assert getattr(first, name).to_json() == getattr(again, name).to_json()
    assert first.calibration["slope"].test != other.calibration["slope"].test


def test_validate_keeps_groups_whole_and_weighs_rows():
    """In folds and in samples; intervals count groups; weights count in apparent measures."""
    twice = np.tile(np.arange(len(Y)), 2)
    found = tr.validate(GaussianNB(), X[twice], Y[twice], groups=twice, replicates=5)
    alone = tr.validate(GaussianNB(), X[twice], Y[twice], groups=twice, replicates=0)
    held = found.held_out
    folds = [set(held.fold[held.groups == g]) for g in np.unique(held.groups)]
    assert all(len(of_group) == 1 for of_group in folds)
    assert found.calibration["slope"].std_error == alone.calibration["slope"].std_error
    assert found.rows["n_groups"] == len(Y)
    w = np.where(np.arange(len(Y)) % 3 == 0, 2.0, 1.0)
    found = tr.validate(GaussianNB(), X, Y, sample_weight=w, replicates=3)
    p = GaussianNB().fit(X, Y, sample_weight=w).predict_proba(X)[:, 1]
    brier = found.calibration["brier"]
    assert brier.apparent == pytest.approx(np.average((p - Y) ** 2, weights=w))
    assert brier.n == 3


@pytest.mark.parametrize("own", [False, True])
def test_validate_notes_a_copy_of_y_and_text_that_names_rows(own):
    """As an audit finds it, by its name where X has names; what is no copy has no note."""
    copy = X.copy()
    copy[:, 2] = Y + X[:, 2] / 10
    names = ["a", "b", "verdict"] if own else ["column 0", "column 1", "column 2"]
    tables = [pd.DataFrame(one, columns=names) if own else one for one in (X, copy)]
    plain, told = (tr.validate(GaussianNB(), table, Y, replicates=0) for table in tables)
    name = "'verdict'" if own else "column 2"
    assert told.notes[-1].startswith(f"{name} by itself predicts y (almost) without error. ")
    assert told.notes[:-1] == plain.notes
    assert told.with_names(("a", "b", "it's")).notes[-1].startswith("'verdict'" if own else '"it')
    frame = pd.DataFrame({"a": X[:, 0], "patient": [f"P{i}" for i in range(len(Y))]})
    coded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["patient"]))
    found = tr.validate(make_pipeline(coded, LogisticRegression()), frame, Y, replicates=0)
    assert found.notes[-1].startswith("'patient' is text with another value in every row.")


def test_validate_names_the_parts_that_numbers_and_classes_lack():
    """Numbers have calibration alone; of three classes the sentence says how to name an event."""
    three = tr.validate(GaussianNB(), X, np.arange(len(Y)) % 3, replicates=0)
    assert "y has 3 classes: name the one that is the event" in three.missing["net_benefit"]
    assert three.held_out.answers.shape == (120, 3)
    assert "Net benefit: it is defined" in str(three)
    assert (three.discrimination, three.rows["event"]) == (None, None)
    numbers = tr.validate(Ridge(), X, X[:, 0] + X[:, 1] ** 2, replicates=0)
    assert numbers.missing["net_benefit"].startswith("it is of an event, and y holds numbers")
    assert numbers.held_out.response == "value"
    assert numbers.calibration.event is None
    both = np.column_stack([X[:, 0], X[:, 1] ** 2])
    several = tr.validate(Ridge(), X, both, replicates=0)
    assert "it is of one target, and y has 2" in several.missing["calibration"]
    found = tr.validate(LinearSVC(), X, Y, replicates=3)  # decision values
    assert set(found.discrimination.measures) == {"auc", "average-precision"}
    assert found.discrimination["auc"].n == 3
    assert "CalibratedClassifierCV" in found.missing["calibration"]
    assert found.to_dict()["calibration"] is None


def test_validate_of_probabilities_0_and_1_has_no_slope_without_clip():
    """Nearest neighbours: the sentence counts them, and clip= makes a line of them.

    Nine events have a line, and a sentence in the place of the curve.
    """
    found = tr.validate(KNeighborsClassifier(3), X, Y, replicates=0)
    slope = found.calibration["slope"]
    assert slope.honest is None
    assert "probabilities are exactly 0 or 1" in slope.reason
    assert found.calibration.curve is None
    with pytest.raises(Refusal, match="no calibration curve: .* exactly 0 or 1"):
        found.calibration.plot()
    assert found.calibration["brier"].honest is not None
    assert "exactly 0 or 1" in str(found)
    clipped = tr.validate(KNeighborsClassifier(3), X, Y, replicates=0, clip=0.01)
    assert clipped.calibration["slope"].interval is not None
    y = np.zeros(120, int)
    y[np.argsort(X[:, 0] + np.sin(17 * X[:, 1]))[-9:]] = 1
    few = tr.validate(GaussianNB(), X, y, replicates=0, random_state=3)
    assert "9 rows of the rarer outcome" in few.calibration["ici"].reason


def test_validate_leaves_out_a_sample_of_one_class():
    none = np.flatnonzero(Y == 0)
    samples = np.vstack([np.resize(none, len(Y)), *[np.arange(len(Y))] * 2])
    found = tr.validate(LogisticRegression(), X, Y, samples=samples)
    assert found.calibration["slope"].n == 2
    assert found.notes[0].startswith("1 bootstrap samples do not count")
    nothing = tr.validate(LogisticRegression(), X, Y, samples=samples[:1])
    assert nothing.notes == ("no optimism is known: no bootstrap sample holds both outcomes.",)
    assert nothing.calibration["slope"].corrected is None
    # GridSearchCV is a model that tunes inside its own fit.
    found = tr.validate(GridSearchCV(GaussianNB(), GRID, cv=3), X, Y, replicates=2)
    assert found.risk.method == "nested (5-fold, inner 5-fold)"
    assert found.discrimination["auc"].n == 2


def test_validate_of_ordered_splits_has_no_intervals():
    """Values, curves, and a note in the place of bands; the page is drawn without them."""
    search = tr.HonestSearchCV(GaussianNB(), GRID, cv="4-fold", outer=TimeSeriesSplit(3))
    found = tr.validate(search.fit(X, Y), X, Y, replicates=0)
    assert found.calibration["slope"].honest is not None
    assert found.calibration["slope"].interval is None
    assert found.calibration.curve.low is None
    assert found.net_benefit.low is None
    assert found.net_benefit.treat_all_high is None
    assert found.discrimination.roc.interval is None
    assert any("splits are ordered" in note for note in found.notes)
    assert 'class="band' not in found.to_html()
    assert len(found.calibration.plot().collections) == 0
    assert len(found.net_benefit.plot().collections) == 0
    plt.close("all")


@pytest.mark.parametrize(
    "given", [GaussianNB(), tr.HonestSearchCV(GaussianNB(), GRID)], ids=["model", "search"]
)
def test_validate_of_rows_in_time_has_no_bands(given):
    """The folds go forward; Brier's score has the interval of dependent losses, the others none."""
    time = np.arange(float(len(Y)))
    found = tr.validate(given, X, Y, time=time, replicates=3, subgroups={"s": np.arange(120) % 2})
    held = found.held_out
    assert found.risk.method.startswith("nested (forward-5")
    for fold in np.unique(held.fold):
        assert held.rows[held.fold == fold].min() > held.rows[held.fold < fold].max(initial=-1)
    slope = found.calibration["slope"]
    assert slope.honest is not None
    assert (slope.interval, slope.std_error, slope.corrected) == (None, None, None)
    assert (found.calibration.curve.low, found.net_benefit.low) == (None, None)
    assert found.discrimination.roc.interval is None
    assert found.calibration["brier"].interval.method == "hac"
    assert any("order of time" in note for note in found.notes)
    assert any("a bootstrap sample draws single rows" in note for note in found.notes)
    assert all(one.interval is None for one in found.subgroups["brier"].levels)
    assert "NaN" not in found.to_json()


def test_validate_of_rows_in_space_has_intervals_of_losses_and_auc_alone():
    """These were calibrated on fields; that of average precision holds too rarely."""
    search = tr.HonestSearchCV(GaussianNB(), GRID, scoring=["zero-one", "average-precision"])
    for model in (GaussianNB(), search):
        found = tr.validate(model, X, Y, block=X[:, :2], replicates=2)
        assert "blocks-5" in found.risk.method
        slope = found.calibration["slope"]
        assert slope.honest is not None
        assert slope.interval is None
        assert found.calibration["brier"].interval.method == "spatial"
        assert found.discrimination["auc"].interval.method == "spatial"
        precision = found.discrimination["average-precision"]
        assert precision.honest is not None
        assert (precision.interval, precision.std_error) == (None, None)
        assert "it has no interval for rows" in str(found.discrimination)
        assert found.discrimination.roc.interval is None
        assert any("losses of rows and the AUC have intervals" in note for note in found.notes)
        assert any("near each other may depend on each other" in note for note in found.notes)


NUMBERS = {"search_or_model": Ridge(), "y": X[:, 0]}
DRAWN = {"samples": [np.arange(len(X))]}


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        *[({name: value}, BadArgument, f"{name}=") for name, value in (
            ("replicates", -1), ("replicates", 2.5), ("clip", 0.5), ("clip", "no"), ("clip", 0),
            ("thresholds", [0.2, 1.0]), ("thresholds", []), ("thresholds", "all"),
            ("thresholds", [[0.1], [0.2, 0.3]]),
        )],
        *[({"samples": samples}, BadData, "samples of shape|outside 0")
          for samples in (5, [[1, 2], [3]], [[1, 500]])],
        ({"time": [1, 2, 3]}, BadData, "time"),
        ({"colour": "red"}, Refusal, "fit parameters go to a HonestSearchCV"),
        *[({"positive": label}, UnknownName, "is no class of y, which has 0, 1")
          for label in ("sick", 1.5, ["ill"], ("a", "b"))],
        (NUMBERS | {"positive": 1}, Refusal, "positive=1 names a class, and y holds numbers"),
        (NUMBERS | {"clip": 0.01}, Refusal, "is about probabilities, and y holds numbers"),
        (NUMBERS | {"thresholds": [0.5]}, Refusal, "is about probabilities, and y holds numbers"),
        # samples are drawn row by row, and the rows depend on each other
        (DRAWN | {"time": np.arange(len(X))}, Refusal, "samples= are drawn"),
        (DRAWN | {"block": np.arange(len(X)) % 8}, Refusal, "samples= are"),
    ],
)  # fmt: skip
def test_validate_refuses(given, error, said):
    with pytest.raises(error, match=said):
        tr.validate(**{"search_or_model": GaussianNB(), "X": X, "y": Y} | given)


def test_validate_refuses_searches_of_other_rows():
    fitted = searched().fit(X, Y)
    with pytest.raises(Refusal, match="fitted on other rows"):
        tr.validate(fitted, X[::-1], Y)
    with pytest.raises(Refusal, match="outer=None"):
        tr.validate(searched(outer=None), X, Y)
    with pytest.raises(UnknownName, match="n_jobs='x' is unknown"):
        tr.validate(fitted, X, Y, replicates=0, n_jobs="x")
    # Without the times of the fit these are other rows.
    time = np.arange(float(len(Y)))
    fitted = tr.HonestSearchCV(GaussianNB(), GRID, outer="forward-4").fit(X, Y, time=time)
    found = tr.validate(fitted, X, Y, time=time, replicates=0)
    assert found.risk.value == fitted.risk_.value
    with pytest.raises(Refusal, match="other groups, weights, times or places"):
        tr.validate(fitted, X, Y, replicates=0)


def test_validate_gives_the_fits_of_the_folds_to_the_executor():
    class Counting(ThreadPoolExecutor):
        n_given = 0

        def submit(self, *given, **words):
            self.n_given += 1
            return super().submit(*given, **words)

    with Counting(2) as pool:
        spread = tr.validate(GaussianNB(), X, Y, replicates=0, n_jobs=pool)
    assert pool.n_given > 0
    alone = tr.validate(GaussianNB(), X, Y, replicates=0)
    np.testing.assert_array_equal(spread.held_out.answers, alone.held_out.answers)


@pytest.mark.parametrize(
    "scoring", ["zero-one", {"a": "zero-one", "area": "auc"}, ["zero-one", "roc_auc"]], ids=str
)
def test_validate_of_decision_values_has_the_interval_of_the_score(scoring):
    """One number has one interval: models without a further fold are asked here, too."""
    X, y = tr.datasets.make_difficult(80, random_state=0)
    searches = [
        tr.HonestSearchCV(SVC(), {"C": [0.1, 1.0]}, scoring=each).fit(X, y)
        for each in (["zero-one", "auc"], scoring)
    ]
    score = searches[0].scores_["auc"]
    measure = tr.validate(searches[1], X, y, replicates=0).measures["auc"]
    assert measure.honest == pytest.approx(score.value)
    assert measure.interval.low == pytest.approx(score.interval.low)
    assert measure.interval.high == pytest.approx(score.interval.high)
