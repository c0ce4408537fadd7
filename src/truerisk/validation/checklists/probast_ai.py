"""What may bias a model and its evaluation: PROBAST+AI, filled in as far as the data tell.

An item is told in our words and carries the number that it has in the tool; both of its parts ask
the same of people, predictors and outcome. Its judgements of applicability are left to people.

Moons KGM, Damen JAA, Kaul T et al. (2025). PROBAST+AI: an updated quality, risk of bias, and
applicability assessment tool for prediction models using regression or artificial intelligence
methods. BMJ 388:e082505.
"""

from __future__ import annotations

from dataclasses import replace

from truerisk.core.present import listed
from truerisk.validation.checklists.study_facts import StudyFacts
from truerisk.validation.checklists.study_words import (
    INSIDE,
    INVERSE,
    NOT_APPLICABLE,
    UNBALANCED,
    Question,
    counted,
    gaps_left,
    measured_by,
    size,
    splits,
    tested,
)
from truerisk.validation.checklists.tripod_ai import TESTED_ON

ENOUGH = 20  # events per candidate predictor
FEW = 10


def _enough(facts: StudyFacts) -> str | None:
    ratio = facts.rarest_per_column
    if ratio is None:
        return None
    if facts.n_needed is not None:
        word = "no" if facts.n_rows < facts.n_needed else "yes"
        made = facts.n_features not in (None, facts.n_columns)
        each = f"of the {facts.n_features} features that its steps make" if made else "column"
        in_time = facts.n_lost is not None
        times, at = (" of times to an event", " at the horizon") if in_time else ("", "")
        return (
            f"{word} by the criteria of Riley et al. (2019) for a regression{times} with a "
            f"parameter for each {each}: {facts.n_needed} rows are needed, and there are "
            f"{facts.n_rows}. The criteria want an R² known before the study, as of an earlier "
            f"model; the honest R² of these rows{at} stands in for it."
        )
    word = "no" if ratio < FEW else "probably" if ratio < ENOUGH else "yes"
    return (
        f"{word} by the rule of {FEW} to {ENOUGH} per candidate predictor, columns taken as "
        f"predictors: {size(facts)}."
    )


def _without_time(facts: StudyFacts) -> str:
    return "" if facts.n_lost is None else ", of two classes at the horizon as if nobody were lost"


def _gaps_dealt_with(facts: StudyFacts) -> str | None:
    gaps = None
    if facts.n_gaps == 0:
        gaps = "X has no gaps; state whether rows with gaps were left out, or filled, before."
    elif facts.n_gaps is not None:
        how = "inside every split" if facts.imputed else "by the model itself"
        gaps = f"{facts.n_rows_with_gaps} rows have missing values, which are handled {how}."
    return _with_the_lost(gaps, facts)


def _with_the_lost(gaps: str | None, facts: StudyFacts) -> str | None:
    """What is said of gaps, and of those who were not followed so far."""
    lost = None
    if facts.n_lost is not None:
        lost = "Nobody was lost before."
        if facts.n_lost:
            lost = f"{facts.n_lost} people were lost before: others count for them, {INVERSE}."
        lost += " State whether other events compete."
    return " ".join(filter(None, (gaps, lost))) or None


def _recalibrated(facts: StudyFacts) -> str | None:
    if not facts.rebalanced:
        return _as_they_came(facts)
    how = listed(facts.rebalanced)
    if facts.recalibrated:
        return f"yes: classes are rebalanced by {how}, and the model is calibrated after that."
    return (
        f"no: classes are rebalanced by {how}, which shifts probabilities, and nothing in the "
        "model calibrates them."
    )


def _as_they_came(facts: StudyFacts) -> str | None:
    if not facts.class_counts:
        return f"{NOT_APPLICABLE}y holds numbers."
    if facts.rebalanced is None:
        return None
    if facts.rebalanced:
        return "yes: rows were tested in the shares of classes in which they came."
    weights = ", and whether their weights rebalance them" if facts.weighted else ""
    return f"{NOT_APPLICABLE}{UNBALANCED}. State whether rows were resampled before{weights}."


def _overfitting(facts: StudyFacts) -> str:
    said = "nothing was tuned: state what bounds the model's flexibility."
    if facts.tunes_inside:
        said = f"{INSIDE}: state how."
    elif facts.tuned:
        said = f"settings were tuned by {splits(facts.chosen_by)} (chosen: {facts.setting})."
    if facts.selects and not facts.fitted_parts:
        said += (
            " A step selects columns, anew inside every split, so that its optimism is counted; "
            "state whether it looks at one column at a time."
        )
    return said


def _beyond_apparent(facts: StudyFacts) -> str:
    more = f"; {facts.corrected} bootstrap samples besides" if facts.corrected else ""
    stable = "" if facts.stability is None else f" {facts.stability}"
    return f"yes: {tested(facts)}{more}.{stable}"


def _enough_to_test(facts: StudyFacts) -> str | None:
    """Against what a validation with intervals of the usual widths would take."""
    if facts.n_to_validate is None:
        return f"{counted(facts)}; how precise that is, the intervals tell."
    n_tested = facts.n_rows if facts.n_tested is None else facts.n_tested
    enough = "yes" if n_tested >= facts.n_to_validate else "no"
    return (
        f"{enough} by the criteria of Riley et al. (2021) for narrow intervals of observed over "
        f"expected events, calibration slope and AUC{_without_time(facts)}: "
        f"{facts.n_to_validate} rows are needed, and {n_tested} were tested; the intervals tell "
        "what these are worth."
    )


def _leaks(facts: StudyFacts) -> str:
    if facts.fitted_parts:
        return f"no: {_stays_fitted(facts)}"
    if facts.tested_on in ("among", "near"):
        return f"no:{TESTED_ON[facts.tested_on]}"
    if facts.n_cut:
        return (
            f"no: {facts.n_cut} rows were tested by models that saw others of their group, and "
            "every step was fitted inside the training rows of a split."
        )
    return (
        "yes, as far as splits go: every step was fitted inside the training rows of a split. "
        "State what was done before, and that no column tells the outcome."
    )


def _stays_fitted(facts: StudyFacts) -> str:
    return f"{listed(facts.fitted_parts)} was fitted before, and by no split. State on which rows."


def _all_steps(facts: StudyFacts) -> str:
    if facts.fitted_parts:
        return f"no: {_stays_fitted(facts)}"
    tuning = "tuning was repeated, too" if facts.tuned else "nothing was tuned"
    steps = listed(facts.steps)
    return f"yes: {steps} fitted anew inside every split; {tuning}. State what was done before."


def _performance(facts: StudyFacts) -> str:
    if facts.calibrated:
        return f"yes: {measured_by(facts)}, calibration among them."
    return f"in part: {measured_by(facts)}; calibration is not among them."


def _gaps_left(facts: StudyFacts) -> str | None:
    return _with_the_lost(gaps_left(facts), facts)


def _not_developed(facts: StudyFacts) -> str:
    return NOT_DEVELOPED


def _one_test(facts: StudyFacts) -> str:
    return f"{NOT_APPLICABLE}nothing was fitted to these rows, which are one test set."


def _served_evaluation(facts: StudyFacts) -> str:
    return (
        "yes: all rows served evaluation alone. State that none of them were among those of the "
        "development."
    )


SAME = "as for the development: the rows are the same."
NOT_DEVELOPED = f"{NOT_APPLICABLE}nothing was developed on these rows."


def _same_people(facts: StudyFacts) -> str | None:
    return None if facts.n_untested or facts.tested_on in ("later", "below", "apart") else SAME


def _prepared_alike(facts: StudyFacts) -> str | None:
    if not facts.steps[:-1]:
        return None
    before = listed(facts.steps[:-1])
    return f"{before}: the same for all rows of a model. State what was done before."


BOTH_PARTS = (
    Question("1.1", "Are the data from a suitable source, and is it told how they were collected?"),
    Question("1.2", "Was the design of the study suitable (cohort, trial, nested case-control)?"),
    Question("1.3", "Do those included and excluded make rows that stand for the people meant?"),
    Question("2.1", "Were predictors defined and measured in the same way for all?"),
    Question("2.2", "Were predictors prepared in the same way for all?", _prepared_alike),
    Question("2.3", "Were they measured without knowing the outcome?"),
    Question("2.4", "Are those of the model known at the time when it is to be used?"),
    Question("3.1", "Was the outcome defined and determined in a suitable way?"),
    Question("3.2", "Was it defined and determined in the same way for all?"),
    Question("3.3", "Was it determined without using or knowing the predictors?"),
    Question("3.4", "Did a suitable time pass between predictors and outcome?"),
)

OF_DEVELOPMENT = (
    *BOTH_PARTS,
    Question("4.1", "Is there evidence that there were enough rows?", _enough),
    Question("4.2", "Were numbers and categories handled well (no needless categorising)?"),
    Question("4.3", "Were missing and censored values handled well?", _gaps_dealt_with),
    Question(
        "4.4", "If classes were rebalanced, was the model calibrated afterwards?", _recalibrated
    ),
    Question("4.5", "Was something done against overfitting?", _overfitting),
)
DEVELOPMENT = tuple(replace(each, finished=_not_developed) for each in OF_DEVELOPMENT)

EVALUATION = (
    *(replace(each, answer=_same_people, finished=each.answer) for each in BOTH_PARTS),
    Question(
        "4.1",
        "Is there more than performance on the training rows?",
        _beyond_apparent,
        _served_evaluation,
    ),
    Question("4.2", "Is there evidence that there were enough rows?", _enough_to_test),
    Question("4.3", "Were missing and censored values handled well?", _gaps_dealt_with, _gaps_left),
    Question(
        "4.4", "If classes were rebalanced, were the tested rows left as they came?", _as_they_came
    ),
    Question(
        "4.5", "If rows were split, did nothing leak from the tested ones?", _leaks, _one_test
    ),
    Question(
        "4.6", "Were all steps of development repeated in every resample?", _all_steps, _one_test
    ),
    Question("4.7", "Was performance measured well (calibration, ranks, benefit)?", _performance),
)
