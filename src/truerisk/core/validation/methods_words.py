"""What was done, as a paragraph in the words of the reporting guidelines."""

from __future__ import annotations

from truerisk.core.validation.study_facts import StudyFacts
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
    said = f"Internal validation was by {facts.tested_by}{tuned} on participants held out."
    if facts.n_groups is not None:
        said += f" The {facts.n_groups} clusters stayed whole."
    if facts.corrected:
        said += (
            f" Optimism was also estimated by repeating the whole procedure in {facts.corrected} "
            "bootstrap samples."
        )
    return said


def _performance(facts: StudyFacts) -> str:
    said = (
        f"Performance was assessed by {', '.join(facts.measures)} with "
        f"{facts.confidence_level:.0%} intervals; {facts.risk}."
    )
    if facts.calibrated:
        kind = "logistic" if facts.class_counts else "linear"
        folds = " and a jackknife over folds" if facts.tested_by.startswith("pairs") else ""
        said += (
            f" Slope and intercept are those of the {kind} recalibration of the predictions of "
            f"participants held out, with intervals by the sandwich estimator{folds}; the flexible "
            "curve is a restricted cubic spline."
        )
    if facts.subgroups:
        said += (
            f" It was reported by {', '.join(facts.subgroups)}, with intervals that hold "
            "simultaneously and empirical Bayes estimates."
        )
    return said if facts.stability is None else f"{said} {facts.stability}"
