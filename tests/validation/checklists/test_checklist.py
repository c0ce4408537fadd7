"""Checklists say what data and computation tell, and leave the rest open."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.checklists import FACTS, answers, answers_of, changed

import truerisk as tr
from truerisk.intervals import as_form
from truerisk.planning.model_size import rows_to_develop
from truerisk.validation.checklists import checklist
from truerisk.validation.checklists.checklist import (
    GUIDELINE_FILES,
    STATE_REQUEST_PATTERN,
    Checklist,
    Item,
)
from truerisk.validation.checklists.study_facts import ReportedMeasure

LINE = (*FACTS.results.measures, ReportedMeasure("slope", "calibration", "sandwich"))
GIVEN = {"tested_on": "others", "steps": ("predictions as given",)}
IN_TIME = {"n_lost": 7, "n_events_ever": 9, "horizon": 5.0}
LEVELS = {
    "subgroups": ("sex",),
    "by_level": {"auc": True},
    "level_calibrations_have_intervals": True,
}
PARTS = {"development": 5, "evaluation": 7}
NOBODY = ("3a", "6b", "8a", "17", "18a", "19", "25", "1.1", "2.3", "3.3", "4.2")


def test_checklist_has_every_item_of_both_guidelines():
    """TRIPOD+AI has 27 items, 52 with their parts; PROBAST+AI asks 16 of development, 18 after."""
    found = Checklist.from_facts(FACTS)
    tripod = [item.number for item in found.items if item.guideline == "TRIPOD+AI"]
    parts = {part: [i.number for i in found.items if i.guideline.endswith(part)] for part in PARTS}
    assert (len(tripod), len(set(tripod))) == (52, 52)
    assert {number.rstrip("abcdefg") for number in tripod} == {str(n) for n in range(1, 28)}
    for part, of_analysis in PARTS.items():
        counts = [sum(n.startswith(f"{d}.") for n in parts[part]) for d in (1, 2, 3, 4)]
        assert counts == [3, 4, 4, of_analysis]
    assert len(json.loads(json.dumps(found.to_dict()))["items"]) == len(found.to_frame()) == 86


def test_checklist_leaves_open_what_no_program_knows():
    """Setting, outcome, ethics, money and meaning are open whatever the data are."""
    found = answers(FACTS)
    assert all(found[number] is None for number in (*NOBODY, "14", "22"))
    assert answers(changed(FACTS, n_gaps=None))["11"] is None
    assert {item.number for item in Checklist.from_facts(FACTS).open_questions} >= set(NOBODY)
    said = str(Checklist.from_facts(FACTS))
    assert "open, for you to answer: 1, 2, 3a" in said
    assert "evaluation: 3 of 18 items are answered by the data and 4 in part." in said
    alike = "  1.1, 1.2, 1.3, 2.1, 2.2, 2.3, 2.4, 3.1, 3.2, 3.3, 3.4: as for the development: the"
    assert alike in said
    assert said.count("open, for you to answer") == 2
    assert said.count("answered in part, for you to complete") == 3


@pytest.mark.parametrize(
    ("number", "facts", "starts", "holds"),
    [
        # by the criteria of Riley where the honest R² is known, else by the rows per column
        (
            "4.1",
            {"n_needed": 200},
            "yes by the criteria of Riley",
            "200 rows are needed, and",
        ),
        ("4.1", {"n_needed": 201}, "no by the criteria of Riley", "201 rows are needed, and"),
        ("4.1", {"n_needed": 201}, "no", "want an R² known before the study, as of an earlier"),
        ("4.1", {"class_counts": {"no": 900, "yes": 79}}, "no by the rule", ""),
        ("4.1", {"class_counts": {"no": 900, "yes": 80}}, "probably by the rule", ""),
        ("4.1", {"class_counts": {"no": 900, "yes": 159}}, "probably by the rule", ""),
        ("4.1", {"class_counts": {"no": 900, "yes": 160}}, "yes by the rule", ""),
        ("10", {"class_counts": {"no": 900, "yes": 79}}, "", "9.9 rows of the rarest class per"),
        # how many cells have no value, in how many rows, and who deals with them
        ("11", {"n_gaps": 0}, "", "no cell without a value"),
        ("11", {"n_gaps": 7, "n_rows_with_gaps": 5, "imputed": True}, "", "inside the folds"),
        ("11", {"n_gaps": 7, "n_rows_with_gaps": 5}, "", "left to the model"),
        # validation and tuning
        ("12a", {}, "", "nested cross-validation on one set of folds (10-fold)"),
        ("12c", {}, "", "3 settings compared by 10-fold cross-validation inside every outer"),
        ("12c", {"n_settings": 1}, "", "nothing was tuned"),
        ("12d", {"n_groups": 30}, "", "30 groups stayed whole"),
        ("12e", {"corrected": 200}, "", "200 bootstrap samples of the whole procedure"),
        ("evaluation 4.1", {"corrected": 200}, "yes: nested", "; 200 bootstrap samples besides."),
        ("evaluation 4.5", {}, "yes, as far as splits go", ""),
        ("evaluation 4.5", {"n_groups": 9, "n_cut": 3}, "no: 3 rows", ""),
        ("evaluation 4.5", {"n_copied": 2}, "no, if copies are one case: 2 rows", "exact copies"),
        ("evaluation 4.6", {}, "", "tuning was repeated, too"),
        ("evaluation 4.7", {}, "in part", ""),
        ("evaluation 4.7", {"measures": LINE}, "yes", ""),
        ("4.5", {}, "settings were tuned by 10-fold cross-validation (chosen: C=1).", ""),
        ("4.5", {"selects": True}, "", "state whether it looks"),
        # subgroups: none asked for is said, not hidden
        ("23a", {}, "", "no subgroups were asked for"),
        (
            "23a",
            {"subgroups": ("sex",), "too_small": ("sex = other",)},
            "",
            "by sex (too few rows: ",
        ),
        # of a regression rows are counted in the place of events
        ("10", {"class_counts": {}}, "", "25.0 rows per column"),
        ("13", {"class_counts": {}}, "Does not apply: y holds numbers.", ""),
        ("4.4", {"class_counts": {}}, "does not apply: y holds numbers.", ""),
        ("evaluation 4.4", {"class_counts": {}}, "does not apply: y holds numbers.", ""),
        ("20a", {"class_counts": {}}, "200 rows", ""),
        # by a time, whoever had no event was followed past it or censored
        (
            "20a",
            {**IN_TIME, "event": "yes"},
            "200 rows: 50 had the event by 5, 150 were",
            "7 were ce",
        ),
        ("20a", {**IN_TIME, "event": "yes", "n_lost": 0}, "200 rows: 50", "past 5 without it"),
        # item 12a tells how the data were used, and 12g which model said what of a row
        ("12g", {}, "Each tested row was given a probability of every class by", "training rows"),
        ("12g", {}, "", "by nested cross-validation on one set of folds (10-fold). Computed by"),
        ("12g", {"fitted_parts": ("frozen",)}, "", "(10-fold); frozen was fitted before. Computed"),
        ("12g", {"tested_on": "others"}, "The finished model (StandardScaler →", "the 200 rows."),
        ("12g", GIVEN, "The predictions were given. State how they were computed.", ""),
        # item 15 tells what a finished model answers with, or what was given in its place
        ("15", {"tested_on": "others"}, "The model answers with a probability of every class.", ""),
        ("15", GIVEN, "For each row a probability of every class was given.", ""),
        ("15", {**GIVEN, "response": "label"}, "For each row a class was given.", ""),
        ("15", {**GIVEN, "response": "value"}, "For each row a number was given.", ""),
        ("15", {**GIVEN, **IN_TIME}, "For each row the risk of the event by 5 was given.", ""),
        ("15", {**GIVEN, "n_events_ever": 9}, "For each row a linear predictor was given.", ""),
        ("15", {**IN_TIME, "tested_on": "others"}, "The model answers with a curve of surv", ""),
        # scores of subgroups and their calibration have intervals of different kinds
        (
            "14",
            LEVELS,
            "",
            "by sex, with simultaneous intervals of scores and pointwise intervals of ",
        ),
        (
            "14",
            {**LEVELS, "by_level": {"auc": True, "f1": False}},
            "",
            "intervals of AUC and point",
        ),
        ("14", {**LEVELS, "by_level": {}}, "", "by sex, with pointwise intervals of calibration."),
    ],
)
def test_checklist_answers_from_the_facts(number, facts, starts, holds):
    said = answers(changed(FACTS, **facts))[number]
    assert said.startswith(starts)
    assert holds in said


def test_checklist_asks_for_rows_by_the_honest_r2():
    """As if the columns and this R² had been planned; the mean need not be known to a factor."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    signal = X[:, 0] + rng.logistic(size=120)
    event = signal > 0
    found = tr.validate(LogisticRegression(), X, event, replicates=0)
    prevalence, auc = event.mean(), found.discrimination["auc"].honest
    given = {"prevalence": prevalence, "nagelkerke": found.discrimination["r2"].honest}
    wanted = tr.plan_development(parameters=3, **given).n
    answers = answers_of(found.checklist)
    assert f"{wanted} rows are needed, and there are 120." in answers["4.1"]
    to_test = tr.plan_validation(prevalence=prevalence, auc=auc).n
    assert f"{to_test} rows are needed" in answers["evaluation 4.2"]
    found = tr.validate(LinearRegression(), X, signal - signal.mean(), replicates=0)
    given = {"mean": 1e3, "sd": 1.0, "r2": found.calibration["explained"].honest}
    wanted = tr.plan_development("continuous", parameters=3, **given).n
    answers = answers_of(found.checklist)
    assert f"{wanted} rows are needed, and there are 120." in answers["4.1"]
    assert "120 rows; how precise that is, the intervals tell." in answers["evaluation 4.2"]
    assert rows_to_develop(3, None, 1e-12) is None  # an R² of nearly 0 asks for no number
    # Of three classes the named one; without a name the rule of thumb is left.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), np.repeat(["a", "b", "c"], 50)
    y[:20] = "c"
    X[:, 0] += 2 * (y == "c")
    found = tr.validate(LogisticRegression(), X, y, positive="c", replicates=0)
    given = {"prevalence": (y == "c").mean(), "nagelkerke": found.discrimination["r2"].honest}
    wanted = tr.plan_development(parameters=3, **given).n
    assert f"{wanted} rows are needed, and there are 150." in answers_of(found.checklist)["4.1"]
    unnamed = tr.validate(LogisticRegression(), X, y, replicates=0).checklist
    assert "by the rule of 10 to 20" in answers_of(unnamed)["4.1"]


def test_methods_text_says_what_was_done():
    """People, events, model, tuning, validation, performance, what lacks, software."""
    slope = ReportedMeasure("slope", "calibration", "sandwich", 0.9, (0.7, 1.1), 0.8)
    curve = ReportedMeasure("flexible curve", "calibration", "pointwise")
    measures = (
        *FACTS.results.measures,
        slope,
        curve,
        ReportedMeasure("AUC", "discrimination", None, 0.75),
    )
    versions = {"truerisk": "1", "sklearn": "1.9", "sksurv": "0.28"}
    grid = {"grid": "C of 0.1, 1 and 10", "penalty": "ridge"}
    facts = changed(FACTS, event="yes", measures=measures, versions=versions, **grid)
    text = Checklist.from_facts(facts).methods_text
    for said in (
        "200 participants, of whom 50 had the event ('yes'), with 8 candidate predictors. No",
        "The model was ridge logistic regression on standardised predictors (StandardScaler → Log",
        "values of C of 0.1, 1 and 10 were compared by 10-fold cross-validation (zero-one loss), a",
        "and C=1 was chosen. C is the inverse of the weight of the penalty. Internal validation",
        "with all tuning repeated inside (Varma and Simon, BMC Bioinformatics 7:91, 2006), on part",
        "with 95% confidence intervals: zero-one loss 0.200 (0.150 to 0.260); calibration",
        "slope 0.900 (0.700 to 1.100; corrected for optimism 0.800); flexible",
        "calibration curve as a figure; AUC 0.750 (no interval).",
        "Intervals were computed by a Beta distribution with the variance of the losses (Bengio",
        "for zero-one loss; by the sandwich estimator (White, Econometrica 50:1, 1982) for calibra",
        f"The intervals of zero-one loss {as_form('beta-cv').caution}. Not done: validation in oth",
        "a comparison of subgroups and a bootstrap estimate of optimism. Analyses used truerisk 1,",
        "scikit-learn 1.9 (Pedregosa et al., JMLR 12:2825, 2011) and scikit-survival 0.28 (",
        "Pölsterl, JMLR 21:212, 2020) (seed 0).",
        "predictors. No values were missing. The model was",
        "nested cross-validation on one set of folds (10-fold), with all tuning",
    ):
        assert said in text
    done = changed(facts, corrected=40, subgroups=("sex",), measures=FACTS.results.measures)
    lacks = "Not done: validation in other people than these and calibration."
    assert lacks in Checklist.from_facts(done).methods_text
    gaps = Checklist.from_facts(
        changed(FACTS, n_gaps=3, n_rows_with_gaps=2, imputed=True)
    ).methods_text
    assert "(2 participants) were imputed or coded within each training set" in gaps


def test_checklist_gives_a_final_model_that_is_a_line():
    """Of scaled columns in their own units; of the event, where that is the first class."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    search = tr.HonestSearchCV(scaled, {"logisticregression__C": [0.1, 1]}).fit(X, y)
    _, last = search.best_estimator_
    slopes = (last.coef_ / np.sqrt(X.var(axis=0)))[0]
    intercept = last.intercept_[0] - slopes @ X.mean(axis=0)
    items = answers_of(tr.validate(search, X, y, replicates=0).checklist)
    assert items["22"] == (
        "Coefficients of LogisticRegression, in the units of the columns: intercept: "
        f"{intercept:.6g}; column 0: {slopes[0]:.6g}; column 1: {slopes[1]:.6g}."
    )
    fitted = LogisticRegression().fit(X, np.where(y, "well", "ill"))
    found = tr.validate(fitted, X, np.where(y, "well", "ill"), positive="ill", prefit=True)
    assert f"column 1: {-fitted.coef_[0, 1]:.6g}." in answers_of(found.checklist)["22"]


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [StandardScaler()],
        [SimpleImputer(), StandardScaler()],
    ],
    ids=["no mean", "no spread", "both", "more steps"],
)
def test_checklist_coefficients_in_the_units_of_columns_predict(steps):
    """What is printed gives the model's answers; of more steps it says that these are missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) * [3, 40] + [2000, -7]
    y = (X - [2000, -7]) @ [0.5, 0.05] + rng.logistic(size=90) > 0
    model = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    said = answers_of(tr.validate(model, X, y, prefit=True).checklist)["22"]
    if steps[1:]:
        assert said.endswith(". State what these steps do in numbers.")
        return
    assert ", in the units of the columns: " in said
    level, *slopes = (float(term.rpartition(": ")[2]) for term in said.rstrip(".").split("; "))
    assert level + X @ slopes == pytest.approx(model.decision_function(X), abs=5e-3)


def test_methods_text_tells_the_net_benefit_of_a_single_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.logistic(size=80) > 0
    found = tr.validate(LogisticRegression(), X, y, thresholds=[0.3], replicates=0)
    benefit = found.net_benefit
    assert (
        f"net benefit from a probability of 0.3 on (of treating all {benefit.treat_all[0]:.3f}) "
        f"{benefit.honest[0]:.3f} ({benefit.low[0]:.3f} to {benefit.high[0]:.3f})"
    ) in found.checklist.methods_text


def test_checklist_tells_once_what_does_not_apply():
    """Of a finished model no question on its development does; none of these counts as answered."""
    text = str(Checklist.from_facts(changed(FACTS, tested_on="others")))
    assert text.count("does not apply: nothing was developed on these rows.") == 1
    assert "  1.1, 1.2, 1.3, 2.1, 2.2, 2.3, 2.4, 3.1, 3.2, 3.3, 3.4, 4.1, 4.2, 4.3" in text
    line = "PROBAST+AI, development: 0 of 16 items are answered by the data, 16 do not apply."
    assert line in text.splitlines()
    lines = str(Checklist.from_facts(changed(FACTS, class_counts={}))).splitlines()
    said = next(line for line in lines if line.startswith("TRIPOD+AI: "))
    assert said.endswith(" items are answered by the data and 5 in part, 1 does not apply.")


@pytest.mark.parametrize(
    ("answer", "is_open"),
    [
        (None, True),
        ("State on which rows.", True),
        ("8 columns. State how that number was chosen.", True),
        ("nothing was tuned: state what bounds the model's flexibility.", True),
        ("Classes are rebalanced by a sampler; state why.", True),
        ("does not apply: nothing was resampled. State whether rows were.", True),
        ("200 rows", False),
        ("does not apply: y holds numbers.", False),
        ("The model answers with a probability of every class.", False),
        ("Coefficients: state 1: 0.5; state 2: 0.7.", False),
        ("AUC 0.7; by state (too few rows: state = 2), with simultaneous intervals.", False),
    ],
)
def test_checklist_item_that_asks_to_state_something_is_open(answer, is_open):
    """What the data tell of it stays in the answer, and the item is not counted as answered."""
    found = Checklist((Item("TRIPOD+AI", "10", "How?", answer),), "")
    assert (len(found.open_questions) == 1) == is_open
    lines = str(found).splitlines()
    note = "open, for you to answer" if answer is None else "answered in part, for you to complete"
    assert (f"  {note}: 10" in lines) == is_open
    assert (" data and 1 in part" in lines[0]) == (is_open and answer is not None)
    assert (f"        {answer}" in lines) == (answer is not None)
    n = 0 if is_open or answer.startswith("does not") else 1
    assert lines[0].startswith(f"TRIPOD+AI: {n} of 1 items are answered by the data")


@pytest.mark.parametrize("file", ["study_words", *GUIDELINE_FILES])
def test_checklist_knows_every_sentence_that_asks_to_state_something(file):
    text = (Path(checklist.__file__).parent / f"{file}.toml").read_text("utf-8")
    text = text.replace("{rarest}", "The rarest class has 2 rows.")
    asking = re.findall(r'"([^"]*\b[Ss]tate [^"]*)"', text)
    assert asking
    assert [sentence for sentence in asking if not STATE_REQUEST_PATTERN.search(sentence)] == []
