"""What a validation knows of its study: gaps, steps, classes, and what was computed."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.support.checklists import answers_of

import truerisk as tr
from truerisk.exceptions import DuplicateRowsWarning, GroupLeakWarning

N = 60
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
Y = np.where(X["a"] + RNG.logistic(size=N) > 0, "ill", "well")
GAPS = X.mask(RNG.random(X.shape) < 0.1)


def told(model, X=X, **given):
    checklist = tr.validate(model, X, Y, replicates=0, **given).checklist
    return answers_of(checklist), checklist


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(SimpleImputer(), LogisticRegression()),
        make_pipeline(
            make_column_transformer((SimpleImputer(), ["a", "b", "c"])), LogisticRegression()
        ),
        tr.models.MultipleImputation(LogisticRegression(), n_imputations=2, random_state=0),
    ],
    ids=["a step", "a part of a table", "several tables"],
)
def test_checklist_counts_gaps_and_names_who_fills_them(model):
    found, _ = told(model, GAPS)
    gaps = GAPS.isna()
    cells, rows = gaps.to_numpy().sum(), gaps.any(axis=1).sum()
    assert found["11"].startswith(
        f"{cells} cells without a value in {rows} rows, filled or coded by a"
    )


def test_checklist_names_classes_steps_groups_and_subgroups():
    """Both classes by name, all steps in order, and that columns are selected inside."""
    found, checklist = told(make_pipeline(SelectKBest(k=2), LogisticRegression()))
    assert f"{(Y == 'ill').sum()} 'ill'" in found["20a"]
    assert "anew inside every split" in found["4.5"]
    assert "SelectKBest → LogisticRegression" in checklist.methods_text
    halves = {"half": np.arange(N) < 55}
    found, _ = told(LogisticRegression(), groups=np.arange(N) // 2, subgroups=halves)
    assert "selects" not in found["4.5"]
    assert found["12d"].startswith("30 groups stayed whole")
    assert "by half (too few rows: half = False)" in found["23a"]


def test_checklist_tells_exact_copies_of_tested_rows():
    """A row with the columns of row 0 and another outcome is no copy."""
    twins, model = X.copy(), LogisticRegression()
    other = int(np.flatnonzero(Y[0] != Y)[0])
    twins.iloc[other] = twins.iloc[0]
    found, _ = told(model, twins)
    assert found["evaluation 4.5"].startswith("yes, as far as splits go")
    twins.iloc[np.flatnonzero(Y[0] == Y)[1]] = twins.iloc[0]
    with pytest.warns(DuplicateRowsWarning, match="^2 of 60 rows are exact copies"):
        found, _ = told(model, twins)
    assert found["evaluation 4.5"].startswith("no, if copies are one case: 2 rows are exact copies")
    found, _ = told(model.fit(twins, Y), twins, prefit=True)
    assert "copies" not in found["evaluation 4.5"]


def test_checklist_counts_samples_that_corrected():
    checklist = tr.validate(LogisticRegression(), X, Y, replicates=3).checklist
    found = answers_of(checklist)
    assert "3 bootstrap samples" in found["12e"]
    found, without = told(LogisticRegression())
    assert "bootstrap" not in found["12e"]
    assert "on average in models of bootstrap samples (Riley" in checklist.methods_text
    assert "on average if one more fold was left out of the training set." in without.methods_text
    # Probabilities of 0 and 1: the errors have values, and no recalibration was done.
    items, text, found = said_of(KNeighborsClassifier(1))
    assert found.calibration["slope"].honest is None
    assert "recalibration" not in text
    assert "spline" not in text
    assert items["evaluation 4.7"].startswith("in part")


@pytest.mark.parametrize("selected", [False, True])
def test_checklist_counts_a_parameter_for_each_level(selected):
    """Of as many the rows are asked for; one step that leaves the columns as they are changes none.

    What a selection leaves is no count of what it chose from.
    """
    letters = pd.DataFrame({"a": X["a"], "stage": np.resize(["I", "II", "III", "IV"], N)})
    coded = make_column_transformer((OneHotEncoder(), ["stage"]), remainder="passthrough")
    steps = [SelectKBest(k=2)] if selected else ["passthrough"]
    found = tr.validate(
        make_pipeline(coded, *steps, LogisticRegression()), letters, Y, replicates=0
    )
    known = {"prevalence": (Y == "well").mean(), "nagelkerke": found.discrimination["r2"].honest}
    wanted = tr.plan_development(parameters=5, **known).n
    answer = answers_of(found.checklist)["4.1"]
    assert "with a parameter for each of the 5 features that its steps make: " in answer
    assert f": {wanted} rows are needed" in answer
    scaled = make_pipeline(StandardScaler(), "passthrough", LogisticRegression())
    assert "a parameter for each column: " in told(scaled)[0]["4.1"]


LATER, SIDE = np.arange(120.0), np.random.default_rng(1).random((120, 2))
NUMBERS = np.random.default_rng(2).normal(size=(120, 3))
CAME = (NUMBERS[:, 0] + np.random.default_rng(3).logistic(size=120) > 0).astype(int)
THIRDS = {"third": np.arange(120) % 3}


def said_of(model=None, **given):
    """Answers by number and the paragraph, of rows with times, places or neither."""
    model = LogisticRegression() if model is None else model
    found = tr.validate(model, NUMBERS, CAME, replicates=0, **given)
    checklist = found.checklist
    return answers_of(checklist), checklist.methods_text, found


@pytest.mark.parametrize("given", [{"time": LATER}, {"block": SIDE}], ids=["time", "block"])
def test_methods_text_claims_only_intervals_that_are_there(given):
    """Of dependent rows no slope, curve, net benefit or subgroup has one, and no sentence does."""
    items, text, found = said_of(subgroups=THIRDS, **given)
    assert found.calibration["slope"].interval is None
    for claim in ("sandwich", "simultaneous", "pointwise", "empirical Bayes"):
        assert claim not in text
    assert re.search(r"misclassification rate 0\.\d+ \(0\.\d+ to 0\.\d+\)", text)
    assert re.search(r"Brier score 0\.\d+ \(0\.\d+ to 0\.\d+\)", text)
    assert re.search(r"calibration slope \d\.\d+ \(no interval\)", text)
    assert "net benefit as a figure (no interval)" in text
    assert "Performance was reported by third, without intervals." in text
    assert "by third, without intervals." in items["14"]
    assert items["23a"].endswith("by third, without intervals.")


def test_page_of_an_assessment_claims_only_intervals_that_are_there():
    words = {"subgroups": THIRDS}
    best = tr.assess({"a": LogisticRegression()}, NUMBERS, CAME, time=LATER, validate=words)
    assert "without intervals." in best.validation.checklist.methods_text
    page = best.to_html()
    assert "Performance was reported by third, without intervals." in page
    assert "simultaneous intervals" not in page


def test_methods_text_of_independent_rows_has_every_interval():
    """Pairs of folds: every interval, and three levels are drawn to their mean, two are not."""
    _, text, _ = said_of(subgroups=THIRDS)
    assert (
        "pointwise by the sandwich estimator (White, Econometrica 50:1, 1982) for flexible" in text
    )
    without = set(re.findall(r"; ([^;]*?) \S+ \(no interval", text))
    assert without == {"ratio of observed to expected events (O/E)", "scaled Brier score"}
    assert "and a jackknife over folds (Efron and Stein, Ann Stat 9:586, 1981)" in text
    assert "third, with simultaneous intervals of scores, and with empirical Bayes estim" in text
    halves = {"half": np.arange(120) % 2}
    assert "half, with simultaneous intervals of scores. " in said_of(subgroups=halves)[1]
    finished = said_of(LogisticRegression().fit(NUMBERS, CAME), prefit=True, subgroups=halves)[1]
    assert "simultaneous intervals of scores and pointwise intervals of calibration. " in finished
    assert "empirical Bayes estimates by third." in said_of(subgroups={**THIRDS, **halves})[1]


def test_checklist_counts_tested_rows_alone():
    """The first sixth of forward-5 serves development alone."""
    items, text, found = said_of(time=LATER)
    n = len(np.unique(found.held_out.rows))
    assert n < 120
    assert items["12a"].startswith(f"{n} of 120 rows were tested by 5 forward splits in time,")
    assert f"the other {120 - n} served development alone" in items["12a"]
    came = int(CAME[found.held_out.rows].sum())
    assert items["21"].endswith(f"; {n} rows ({n - came} '0', {came} '1') in testing.")
    assert f"{n} of 120 participants were tested." in text


def search(outer):
    return tr.HonestSearchCV(LogisticRegression(), {"C": [1.0]}, outer=outer, cv="5-fold")


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.TrueRiskWarning")
@pytest.mark.parametrize(
    ("model", "given", "kind"),
    [
        (None, {}, "Internal validation was by 5-fold cross-validation on participants held out."),
        (None, {"time": LATER}, "Temporal validation was by 5 forward splits in time on part"),
        (
            None,
            {"time": LATER[::-1]},
            "Temporal validation was by 5 forward splits in time on part",
        ),
        (search("purged-5"), {"time": LATER}, "whose times lie among those"),
        (search("10-fold"), {"time": LATER}, "whose times lie among those"),
        (search("forward-5"), {}, "Validation was by 5 forward splits in time on part"),
        (
            None,
            {"block": SIDE},
            "Spatial validation was by cross-validation over 5 parts of space on part",
        ),
        (search("10-fold"), {"block": SIDE}, "most of whom lie next to one"),
        (
            None,
            {"block": np.arange(120) // 10},
            "Spatial validation was by cross-validation over 5 parts of space on part",
        ),
    ],
)
def test_methods_text_names_the_kind_of_validation_that_the_splits_did(model, given, kind):
    """Whatever their word: forward in time, between known times, at places not seen, or any."""
    assert kind in said_of(model, **given)[1]


def test_checklist_does_not_call_cut_groups_whole():
    """A splitter that ignores groups tests a patient by a model that saw the patient."""
    groups = np.arange(120) // 2
    splitter = ShuffleSplit(3, random_state=0)
    with pytest.warns(GroupLeakWarning):
        items, text, _ = said_of(search(splitter), groups=groups)
    assert "rows were tested by models that saw others of their group" in items["12d"]
    assert "clusters that it had seen" not in text
    assert "any of the 60 clusters that it had seen" in said_of(groups=groups)[1]
