"""What was done, as a paragraph in the words of the reporting guidelines."""

from __future__ import annotations

from truerisk.core.validation.interval_words import (
    levels_said,
    measured_by,
    shrunken_said,
    sure_said,
)
from truerisk.core.validation.study_facts import CURVE, SLOPE, StudyFacts, TestedOn
from truerisk.core.validation.tripod_ai import counted

__all__ = ["methods_words"]


def methods_words(facts: StudyFacts) -> str:
    """Participants, missing data, model building, internal validation, performance, software."""
    said = [_participants(facts), _building(facts), _validation(facts), _performance(facts)]
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    return " ".join([*said, f"Analyses used {versions} (seed {facts.seed})."])


def _participants(facts: StudyFacts) -> str:
    columns = "" if facts.n_columns is None else f" with {facts.n_columns} candidate predictors"
    gaps = ""
    if facts.n_gaps:
        how = "imputed within each training set" if facts.imputed else "left to the learner"
        gaps = f" Missing values ({facts.n_rows_with_gaps} participants) were {how}."
    return f"We analysed {counted(facts)}{columns}.{gaps}"


def _building(facts: StudyFacts) -> str:
    steps = " → ".join(facts.steps)
    if facts.n_settings == 1:
        return f"The model was {steps} ({facts.setting})."
    return (
        f"The model was {steps}; hyperparameters were chosen among {facts.n_settings} settings by "
        f"{facts.chosen_by} (final: {facts.setting})."
    )


def _validation(facts: StudyFacts) -> str:
    tuned = ", with all tuning repeated inside," if facts.n_settings > 1 else ""
    kind, on = KINDS[facts.tested_on]
    said = f"{kind} was by {facts.tested_by}{tuned} on {on}."
    if facts.n_untested:
        said += f" {facts.n_tested} of {facts.n_rows} participants were tested."
    if facts.n_groups is not None and not facts.n_cut:
        said += f" No model was tested on any of the {facts.n_groups} clusters that it had seen."
    if facts.corrected:
        said += (
            f" Optimism was also estimated by repeating the whole procedure in {facts.corrected} "
            "bootstrap samples."
        )
    return said


KINDS: dict[TestedOn, tuple[str, str]] = {
    "": ("Internal validation", "participants held out"),
    "later": ("Temporal validation", "participants later than all that a model had learned from"),
    "below": ("Validation", "participants who come in the table after all of a model's own"),
    "among": (
        "Internal validation",
        "participants held out, whose times lie among those that a model had learned from",
    ),
    "apart": ("Spatial validation", "participants of places that a model had not seen"),
    "near": (
        "Internal validation",
        "participants held out, most of whom lie next to one that a model had learned from",
    ),
}
"""What the validation was, and on whom, by what models were tested on."""


def _performance(facts: StudyFacts) -> str:
    said = f"Performance was assessed by {measured_by(facts)}, {sure_said(facts)}; {facts.risk}."
    said += _calibration(facts)
    if facts.subgroups:
        said += (
            f" It was reported by {', '.join(facts.subgroups)}, "
            f"{levels_said(facts, 'intervals that hold simultaneously')}{shrunken_said(facts)}."
        )
    return said if facts.stability is None else f"{said} {facts.stability}"


def _calibration(facts: StudyFacts) -> str:
    """What line and curve are, as far as there are any."""
    known = {one.name: one.interval for one in facts.measures if one.part == "calibration"}
    said = []
    if SLOPE in known:
        kind = "logistic" if facts.class_counts else "linear"
        folds = " and a jackknife over folds" if known[SLOPE] == "sandwich-pairs" else ""
        sure = f", with intervals by the sandwich estimator{folds}" if known[SLOPE] else ""
        said.append(
            f"slope and intercept are those of the {kind} recalibration of the predictions of "
            f"participants held out{sure}"
        )
    if CURVE in known:
        said.append("the flexible curve is a restricted cubic spline")
    told = "; ".join(said)
    return f" {told[0].upper()}{told[1:]}." if told else ""
