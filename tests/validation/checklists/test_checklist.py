"""Checklists say what data and computation tell, and leave the rest open."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.checklists import answers_of, changed

import truerisk as tr
from truerisk.intervals import as_form
from truerisk.planning.model_size import rows_needed
from truerisk.validation.checklists import checklist
from truerisk.validation.checklists.checklist import ASKS, FILES, Checklist, Item
from truerisk.validation.checklists.study_facts import (
    Rated,
    StudyFacts,
    StudyModel,
    StudyResults,
    StudyRows,
    StudySoftware,
    StudyTesting,
)

FACTS = StudyFacts(
    rows=StudyRows(
        n_rows=200, n_columns=8, class_counts={"no": 150, "yes": 50}, n_gaps=0, n_rows_with_gaps=0
    ),
    model=StudyModel(
        steps=("StandardScaler", "LogisticRegression"),
        setting="C=1",
        response="probability",
        n_settings=3,
    ),
    testing=StudyTesting(chosen_by="10-fold", tested_by="pairs (10-fold)"),
    results=StudyResults(measures=(Rated("zero-one loss", "", "beta-cv", 0.2, (0.15, 0.26)),)),
    software=StudySoftware(versions={"truerisk": "1"}),
)
PARTS = {"development": 5, "evaluation": 7}
NOBODY = ("3a", "6b", "8a", "17", "18a", "19", "25", "1.1", "2.3", "3.3", "4.2")


def answers(facts: StudyFacts) -> dict[str, str | None]:
    return answers_of(Checklist.of(facts))


def test_every_item_of_both_guidelines_is_there():
    """TRIPOD+AI has 27 items, 52 with their parts; PROBAST+AI asks 16 of development, 18 after."""
    items = Checklist.of(FACTS).items
    tripod = [item.number for item in items if item.guideline == "TRIPOD+AI"]
    parts = {part: [i.number for i in items if i.guideline.endswith(part)] for part in PARTS}
    assert (len(tripod), len(set(tripod))) == (52, 52)
    assert {number.rstrip("abcdefg") for number in tripod} == {str(n) for n in range(1, 28)}
    for part, of_analysis in PARTS.items():
        counts = [sum(n.startswith(f"{d}.") for n in parts[part]) for d in (1, 2, 3, 4)]
        assert counts == [3, 4, 4, of_analysis]


def test_what_no_program_knows_stays_open():
    """Setting, outcome, ethics, money and meaning are open whatever the data are."""
    found = answers(FACTS)
    assert all(found[number] is None for number in NOBODY)
    assert {item.number for item in Checklist.of(FACTS).open_questions} >= set(NOBODY)
    said = str(Checklist.of(FACTS))
    assert "open, for you to answer: 1, 2, 3a" in said
    assert "evaluation: 3 of 18 items are answered by the data." in said
    alike = "  1.1, 1.2, 1.3, 2.1, 2.2, 2.3, 2.4, 3.1, 3.2, 3.3, 3.4: as for the development: the"
    assert alike in said
    assert said.count("open, for you to answer") == 3


@pytest.mark.parametrize(("n_needed", "word"), [(200, "yes"), (201, "no")])
def test_rows_are_held_against_the_criteria_of_riley(n_needed, word):
    """Where the honest R² is known; there are 200."""
    answer = answers(changed(FACTS, n_needed=n_needed))["4.1"]
    assert answer.startswith(f"{word} by the criteria of Riley et al.")
    assert f"{n_needed} rows are needed, and there are 200." in answer
    assert "want an R² known before the study, as of an earlier model; the honest R²" in answer


def test_an_event_against_the_rest_is_asked_for_by_its_own_share():
    """Of three classes the named one; without a name the rule of thumb is left."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), np.repeat(["a", "b", "c"], 50)[:150]
    y[:20] = "c"
    X[:, 0] += 2 * (y == "c")
    found = tr.validate(LogisticRegression(), X, y, positive="c", replicates=0)
    given = {"prevalence": (y == "c").mean(), "nagelkerke": found.discrimination["r2"].honest}
    wanted = tr.plan_development(parameters=3, **given).n
    items = answers_of(found.checklist)
    assert f"{wanted} rows are needed, and there are 150." in items["4.1"]
    unnamed = tr.validate(LogisticRegression(), X, y, replicates=0).checklist
    assert "by the rule of 10 to 20" in answers_of(unnamed)["4.1"]


def test_a_centred_target_is_validated():
    """Its mean is known to no factor, and need not be; an R² of nearly 0 asks for no number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120)
    found = tr.validate(LinearRegression(), X, y - y.mean(), replicates=0).checklist
    assert "rows are needed, and there are 120." in answers_of(found)["4.1"]
    assert rows_needed(3, None, 1e-12) is None


@pytest.mark.parametrize("outcome", ["binary", "continuous"])
def test_rows_are_asked_for_by_the_honest_r2(outcome):
    """As if the columns and this R² had been planned; the mean need not be known to a factor."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    signal = X[:, 0] + rng.logistic(size=120)
    model, y = LinearRegression(), signal
    if outcome == "binary":
        model, y = LogisticRegression(), signal > 0
    found = tr.validate(model, X, y, replicates=0)
    if outcome == "binary":
        nagelkerke = found.discrimination["r2"].honest
        given = {"prevalence": y.mean(), "nagelkerke": nagelkerke}
        auc = found.discrimination["auc"].honest
        to_test = tr.plan_validation(prevalence=y.mean(), auc=auc).n
        word = f"{to_test} rows are needed"
    else:
        given = {"mean": 1e3, "sd": 1.0, "r2": found.calibration["explained"].honest}
        word = "120 rows; how precise that is, the intervals tell."
    wanted = tr.plan_development(outcome, parameters=3, **given).n
    answers = answers_of(found.checklist)
    assert f"{wanted} rows are needed, and there are 120." in answers["4.1"]
    assert word in answers["evaluation 4.2"]


@pytest.mark.parametrize(
    ("events", "word"), [(79, "no"), (80, "probably"), (159, "probably"), (160, "yes")]
)
def test_events_per_column_are_held_against_the_rule(events, word):
    """Fewer than 10 per column: no; fewer than 20: probably; with 8 columns."""
    facts = changed(FACTS, class_counts={"no": 900, "yes": events})
    assert answers(facts)["4.1"].startswith(f"{word} by the rule")
    assert f"{events / 8:.1f} rows of the rarest class per column" in answers(facts)["10"]


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"n_gaps": None}, None),
        ({"n_gaps": 0}, "no cell without a value"),
        ({"n_gaps": 7, "n_rows_with_gaps": 5, "imputed": True}, "inside the folds"),
        ({"n_gaps": 7, "n_rows_with_gaps": 5}, "left to the model"),
    ],
)
def test_gaps_are_told(facts, said):
    """How many cells, in how many rows, and who deals with them; nothing where X does not say."""
    found = answers(changed(FACTS, **facts))["11"]
    assert found is None if said is None else said in found


def test_validation_and_tuning_are_told():
    """The kind of validation, whether tuning is inside, and what corrected for optimism."""
    slope = Rated("slope", "calibration", "sandwich")
    measures = (*FACTS.results.measures, slope)
    found = answers(changed(FACTS, corrected=200, measures=measures, n_groups=30))
    assert "nested cross-validation on one set of folds (10-fold)" in found["12a"]
    assert (
        "3 settings compared by 10-fold cross-validation inside every outer training set"
        in found["12c"]
    )
    assert "200 bootstrap samples of the whole procedure" in found["12e"]
    assert "30 groups stayed whole" in found["12d"]
    assert found["evaluation 4.7"].startswith("yes")
    assert answers(FACTS)["evaluation 4.7"].startswith("in part")
    assert found["evaluation 4.1"] == (
        "yes: nested cross-validation on one set of folds (10-fold); 200 bootstrap samples besides."
    )
    assert found["evaluation 4.5"].startswith("yes, as far as splits go")
    assert answers(changed(FACTS, n_groups=9, n_cut=3))["evaluation 4.5"].startswith("no: 3 rows")
    assert "tuning was repeated, too" in found["evaluation 4.6"]
    assert found["4.5"] == "settings were tuned by 10-fold cross-validation (chosen: C=1)."
    assert "state whether it looks" in answers(changed(FACTS, selects=True))["4.5"]
    assert "nothing was tuned" in answers(changed(FACTS, n_settings=1))["12c"]


def test_subgroups_are_told():
    """Which columns, and which levels were too small; none asked for is said, not hidden."""
    facts = changed(FACTS, subgroups=("sex",), too_small=("sex = other",))
    assert "by sex (too few rows: sex = other)" in answers(facts)["23a"]
    assert "no subgroups were asked for" in answers(FACTS)["23a"]
    assert answers(FACTS)["14"] is None


def test_numbers_have_no_classes():
    """Of a regression rows are counted in the place of events."""
    found = answers(changed(FACTS, class_counts={}))
    assert "25.0 rows per column" in found["10"]
    assert found["13"] == "Does not apply: y holds numbers."
    assert found["4.4"] == found["evaluation 4.4"] == "does not apply: y holds numbers."
    assert found["20a"] == "200 rows"


def test_the_paragraph_says_what_was_done():
    """People, events, model, tuning, validation, performance, what lacks, software."""
    facts = changed(
        FACTS,
        event="yes",
        measures=(
            *FACTS.results.measures,
            Rated("slope", "calibration", "sandwich", 0.9, (0.7, 1.1), 0.8),
            Rated("flexible curve", "calibration", "pointwise"),
            Rated("AUC", "discrimination", None, 0.75),
        ),
        versions={"truerisk": "1", "sklearn": "1.9", "sksurv": "0.28"},
    )
    text = Checklist.of(facts).methods_text
    assert text.startswith(
        "We analysed 200 participants, of whom 50 had the event ('yes'), with 8 candidate "
        "predictors. No values were missing. The model was StandardScaler → LogisticRegression; "
        "its settings were chosen among 3 by 10-fold cross-validation, by zero-one loss (final: "
        "C=1). Internal validation was by nested cross-validation on one set of folds (10-fold), "
        "with all tuning repeated inside, on participants held out. Performance in participants "
        "held out, with 95% confidence intervals: zero-one loss 0.200 (0.150 to 0.260, beta-cv); "
        "calibration slope 0.900 (0.700 to 1.100, sandwich; corrected for optimism 0.800); "
        "flexible calibration curve as a figure (pointwise); AUC 0.750 (no interval)."
    )
    assert f"Intervals beta-cv {as_form('beta-cv').caution}. Not done: " in text
    assert text.endswith(
        "Not done: validation in other people than these, a comparison of subgroups and a "
        "bootstrap estimate of optimism. Analyses used truerisk 1, scikit-learn 1.9 (Pedregosa "
        "et al., JMLR 12:2825, 2011) and scikit-survival 0.28 (Pölsterl, JMLR 21:212, 2020) "
        "(seed 0)."
    )
    done = changed(facts, corrected=40, subgroups=("sex",), measures=FACTS.results.measures)
    assert "Not done: validation in other people than these and calibration." in (
        Checklist.of(done).methods_text
    )
    gaps = changed(FACTS, n_gaps=3, n_rows_with_gaps=2, imputed=True)
    assert (
        "(2 participants) were imputed or coded within each training set"
        in Checklist.of(gaps).methods_text
    )


def test_the_final_model_is_given_where_it_is_a_line():
    """Its coefficients by name; of scaled columns in their own units; of a forest nothing."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    search = tr.HonestSearchCV(scaled, {"logisticregression__C": [0.1, 1]}).fit(X, y)
    _, last = search.best_estimator_
    raw = deepcopy(last)  # the same answers without the scaler
    raw.coef_ = last.coef_ / np.sqrt(X.var(axis=0))
    raw.intercept_ = last.intercept_ - raw.coef_ @ X.mean(axis=0)
    assert np.allclose(raw.predict_proba(X), search.predict_proba(X))
    items = answers_of(tr.validate(search, X, y, replicates=0).checklist)
    (first, second), intercept = raw.coef_[0], raw.intercept_[0]
    assert items["22"] == (
        "Coefficients of LogisticRegression, in the units of the columns: intercept: "
        f"{intercept:.6g}; column 0: {first:.6g}; column 1: {second:.6g}."
    )
    assert answers(FACTS)["22"] is None


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
def test_coefficients_in_the_units_of_columns_predict(steps):
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


def test_the_line_speaks_of_the_event():
    """Of the first class, where that is named: scikit-learn's line is one of the second."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.where(X[:, 0] + rng.logistic(size=60) > 0, "well", "ill")
    fitted = LogisticRegression().fit(X, y)
    found = tr.validate(fitted, X, y, positive="ill", prefit=True)
    items = answers_of(found.checklist)
    assert f"column 0: {-fitted.coef_[0, 0]:.6g}." in items["22"]


def test_a_single_threshold_has_a_net_benefit_in_words():
    """With what treating all brings."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.logistic(size=80) > 0
    found = tr.validate(LogisticRegression(), X, y, thresholds=[0.3], replicates=0)
    benefit = found.net_benefit
    assert (
        f"net benefit from a probability of 0.3 on (of treating all {benefit.treat_all[0]:.3f}) "
        f"{benefit.honest[0]:.3f} ({benefit.low[0]:.3f} to {benefit.high[0]:.3f}, pointwise)"
    ) in found.checklist.methods_text


def test_it_is_written_as_json_and_as_a_frame():
    """Plain values, a line for each item."""
    found = Checklist.of(FACTS)
    assert len(json.loads(json.dumps(found.to_dict()))["items"]) == 86
    assert len(found.to_frame()) == 86


def test_what_does_not_apply_is_told_once():
    """Of a finished model no question on its development does; their numbers stand before it."""
    text = str(Checklist.of(changed(FACTS, tested_on="others")))
    assert text.count("does not apply: nothing was developed on these rows.") == 1
    assert "  1.1, 1.2, 1.3, 2.1, 2.2, 2.3, 2.4, 3.1, 3.2, 3.3, 3.4, 4.1, 4.2, 4.3" in text


def test_checklist_count_leaves_out_items_that_do_not_apply():
    """Sixteen questions on a development that never was are not answered by the data."""
    text = str(Checklist.of(changed(FACTS, tested_on="others")))
    line = "PROBAST+AI, development: 0 of 16 items are answered by the data, 16 do not apply."
    assert line in text.splitlines()


def test_checklist_count_leaves_out_an_item_that_begins_with_a_capital():
    """TRIPOD+AI's item on rebalanced classes does not apply where y holds numbers."""
    lines = str(Checklist.of(changed(FACTS, class_counts={}))).splitlines()
    said = next(line for line in lines if line.startswith("TRIPOD+AI: "))
    assert said.endswith(" items are answered by the data, 1 does not apply.")


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
    assert ("  open, for you to answer: 10" in lines) == is_open
    assert (f"        {answer}" in lines) == (answer is not None)
    n = 0 if is_open or answer.startswith("does not") else 1
    assert lines[0].startswith(f"TRIPOD+AI: {n} of 1 items are answered by the data")


@pytest.mark.parametrize("file", ["study_words", *FILES])
def test_checklist_knows_every_sentence_that_asks_to_state_something(file):
    text = (Path(checklist.__file__).parent / f"{file}.toml").read_text("utf-8")
    text = text.replace("{rarest}", "The rarest class has 2 rows.")
    asking = re.findall(r'"([^"]*\b[Ss]tate [^"]*)"', text)
    assert asking
    assert [sentence for sentence in asking if not ASKS.search(sentence)] == []


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            {},
            (
                "Each tested row was given a probability of every class by StandardScaler → "
                "LogisticRegression fitted to training rows without it, by nested cross-validation "
                "on one set of folds (10-fold). Computed by truerisk 1 (seed 0)."
            ),
        ),
        (
            {"tested_on": "others"},
            (
                "The finished model (StandardScaler → LogisticRegression) was asked for a "
                "probability of every class of each of the 200 rows."
            ),
        ),
        (
            {"tested_on": "others", "steps": ("predictions as given",)},
            "The predictions were given. State how they were computed.",
        ),
    ],
    ids=["held out", "finished", "given"],
)
def test_tripod_item_12g_tells_how_predictions_were_computed(facts, said):
    """Item 12a tells how the data were used, and item 12g which model said what of a row."""
    assert answers(changed(FACTS, **facts))["12g"] == said


def test_tripod_item_12g_names_a_part_that_was_fitted_before():
    """That part may have seen the row."""
    found = answers(changed(FACTS, fitted_parts=("frozen (FrozenEstimator)",)))
    assert "(10-fold); frozen (FrozenEstimator) was fitted before. Computed by" in found["12g"]
