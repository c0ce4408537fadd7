"""The signalling questions of PROBAST in our words, with what data and computation say to each."""

from __future__ import annotations

from truerisk.core.validation.interval_words import measured_by
from truerisk.core.validation.question import Question
from truerisk.core.validation.study_facts import StudyFacts
from truerisk.core.validation.tripod_ai import size

__all__ = ["PROBAST"]

ENOUGH = 20  # events per candidate predictor
FEW = 10


def _enough(facts: StudyFacts) -> str | None:
    ratio = facts.rarest_per_column
    if ratio is None:
        return None
    word = "no" if ratio < FEW else "probably" if ratio < ENOUGH else "yes"
    return (
        f"{word} by the rule of {FEW} to {ENOUGH} per candidate predictor, columns taken as "
        f"predictors: {size(facts)}."
    )


def _gaps(facts: StudyFacts) -> str | None:
    if facts.n_gaps is None:
        return None
    if facts.n_gaps == 0:
        return "X has no gaps; whether rows with gaps were left out before is yours to tell."
    how = "inside every split" if facts.imputed else "by the model itself"
    return f"{facts.n_rows_with_gaps} rows have gaps, which are dealt with {how}."


def _univariable(facts: StudyFacts) -> str | None:
    if facts.selects:
        return (
            "A step selects columns, anew inside every split, so that its optimism is counted; "
            "whether it looks at one column at a time is yours to tell."
        )
    return None


def _performance(facts: StudyFacts) -> str:
    if facts.calibrated:
        return f"yes: {measured_by(facts)}, calibration among them."
    return f"in part: {measured_by(facts)}; calibration is not among them."


def _optimism(facts: StudyFacts) -> str:
    tuning = "nothing was tuned" if facts.n_settings == 1 else "tuning repeated inside every split"
    more = f"; {facts.corrected} bootstrap samples besides" if facts.corrected else ""
    stable = "" if facts.stability is None else f" {facts.stability}"
    return f"yes: {facts.tested_by}, {tuning}{more}.{stable}"


PROBAST = (
    Question("1.1", "Are the data of a fitting kind (cohort, trial, nested case-control)?"),
    Question("1.2", "Were the right people taken in and left out?"),
    Question("2.1", "Were predictors defined and measured alike for all?"),
    Question("2.2", "Were they measured without knowing the outcome?"),
    Question("2.3", "Are all of them there at the time when the model is to be used?"),
    Question("3.1", "Was the outcome determined in a fitting way?"),
    Question("3.2", "Was it defined before, or by a standard?"),
    Question("3.3", "Are the predictors no part of its definition?"),
    Question("3.4", "Was it determined alike for all?"),
    Question("3.5", "Was it determined without knowing the predictors?"),
    Question("3.6", "Did a fitting time pass between predictors and outcome?"),
    Question("4.1", "Are there enough people with the outcome?", _enough),
    Question("4.2", "Were numbers and categories dealt with well (no needless cuts)?"),
    Question("4.3", "Is everyone who was taken in also in the analysis?"),
    Question("4.4", "Were gaps dealt with well?", _gaps),
    Question("4.5", "Were predictors not chosen by single associations?", _univariable),
    Question("4.6", "Were censoring, competing risks and sampling of controls counted?"),
    Question("4.7", "Was performance told by fitting measures?", _performance),
    Question("4.8", "Were overfitting and optimism counted?", _optimism),
    Question("4.9", "Are the weights of the final model those of the analysis?"),
)
