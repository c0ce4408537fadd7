"""The items of TRIPOD+AI in our words, with what data and computation say to each."""

from __future__ import annotations

from collections.abc import Mapping

from truerisk.core.present import number
from truerisk.core.validation.interval_words import (
    levels_said,
    measured_by,
    sure_said,
)
from truerisk.core.validation.question import Question
from truerisk.core.validation.study_facts import StudyFacts, TestedOn

__all__ = ["TRIPOD_AI", "counted", "size"]


def counted(facts: StudyFacts) -> str:
    """Rows, with those of every class."""
    groups = "" if facts.n_groups is None else f" in {facts.n_groups} groups"
    return f"{facts.n_rows} rows{groups}{_classes(facts.class_counts)}"


def _classes(counts: Mapping[str, int]) -> str:
    classes = ", ".join(f"{n} '{name}'" for name, n in counts.items())
    return f" ({classes})" if classes else ""


def size(facts: StudyFacts) -> str | None:
    """Rows and events per candidate column."""
    ratio = facts.rarest_per_column
    if ratio is None:
        return None
    what = "rows" if facts.n_rarest is None else "rows of the rarest class"
    return (
        f"{counted(facts)}; {facts.n_columns} columns, {number(ratio, 1)} {what} per column "
        "before any selection"
    )


def _size(facts: StudyFacts) -> str | None:
    found = size(facts)
    return None if found is None else f"{found}. How that number was arrived at is yours to say."


def _preparation(facts: StudyFacts) -> str | None:
    before = facts.steps[:-1]
    if not before:
        return "X went into the learner as it was given. What was done before is yours to say."
    return (
        f"{', '.join(before)}, each fitted inside the training rows of every split. What was done "
        "before is yours to say."
    )


def _gaps(facts: StudyFacts) -> str | None:
    if facts.n_gaps is None:
        return None
    if facts.n_gaps == 0:
        return "X has no cell without a value. Rows that were left out before are yours to tell."
    how = (
        "filled by a step of the model, inside the folds" if facts.imputed else "left to the model"
    )
    return (
        f"{facts.n_gaps} cells without a value in {facts.n_rows_with_gaps} rows, {how}. Why they "
        "are missing is yours to say."
    )


def _use(facts: StudyFacts) -> str:
    if not facts.n_untested:
        said = (
            f"All {facts.n_rows} rows served both: {facts.tested_by}, in which a row was tested "
            "only by models that had not seen it, and the final model was fitted on all rows."
        )
    else:
        said = (
            f"{facts.n_tested} of {facts.n_rows} rows were tested by {facts.tested_by}, only by "
            f"models that had not seen them; the other {facts.n_untested} served development "
            "alone, and the final model was fitted on all rows."
        )
    return said + TESTED_ON[facts.tested_on]


TESTED_ON: dict[TestedOn, str] = {
    "": "",
    "later": " Tested rows are later than all that their model learned from: temporal validation.",
    "below": " Tested rows stand in the table below all that their model learned from.",
    "among": " The times of tested rows lie among those that their model learned from.",
    "apart": " Tested rows lie at places that their model had not seen.",
    "near": " Most tested rows lie next to one that their model learned from.",
}


def _building(facts: StudyFacts) -> str:
    if facts.n_settings == 1:
        return f"{facts.learner} with one setting ({facts.setting}); nothing was tuned."
    return (
        f"{facts.learner}; {facts.n_settings} settings compared by {facts.chosen_by} inside every "
        f"outer training set; chosen on all rows: {facts.setting}."
    )


def _clusters(facts: StudyFacts) -> str | None:
    if facts.n_groups is None:
        return None
    if facts.n_cut:
        return (
            f"{facts.n_groups} groups; {facts.n_cut} rows were tested by models that saw others of "
            "their group."
        )
    if facts.dependent or facts.n_untested:
        return f"{facts.n_groups} groups; no model was tested on one that it had seen."
    return f"{facts.n_groups} groups stayed whole in every split and in every interval."


def _measures(facts: StudyFacts) -> str:
    corrected = (
        f"; corrected for optimism by {facts.corrected} bootstrap samples of the whole procedure"
        if facts.corrected
        else ""
    )
    return f"{measured_by(facts)}, of held-out rows{corrected}."


def _balance(facts: StudyFacts) -> str | None:
    if not facts.class_counts:
        return None
    share = min(facts.class_counts.values()) / sum(facts.class_counts.values())
    return f"The rarest class has {share:.1%} of the rows. What was done about it is yours to say."


def _fairness(facts: StudyFacts) -> str | None:
    if not facts.subgroups:
        return None
    return (
        f"Performance was told by {', '.join(facts.subgroups)}, "
        f"{levels_said(facts, 'simultaneous intervals')}. What was done about differences is yours "
        "to say."
    )


def _subgroups(facts: StudyFacts) -> str:
    base = f"{facts.risk}; {measured_by(facts)}, {sure_said(facts)}"
    if not facts.subgroups:
        return f"{base}; no subgroups were asked for."
    small = f" (too few rows: {', '.join(facts.too_small)})" if facts.too_small else ""
    sure = levels_said(facts, "simultaneous intervals")
    return f"{base}; by {', '.join(facts.subgroups)}{small}, {sure}."


def _output(facts: StudyFacts) -> str:
    return f"The model answers with {facts.response}."


def _code(facts: StudyFacts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    return f"{versions}; seed {facts.seed}. Where your code stands is yours to say."


def _analysed(facts: StudyFacts) -> str:
    if not facts.n_untested:
        return f"{counted(facts)}, in tuning, fitting and testing alike."
    tested = f"{facts.n_tested} rows{_classes(facts.tested_counts)}"
    return f"{counted(facts)}, in tuning and fitting; {tested} in testing."


TRIPOD_AI = (
    Question("1", "Title: is it told that a model is developed or evaluated, for whom, of what?"),
    Question("2", "Abstract: does it follow TRIPOD+AI for abstracts?"),
    Question("3a", "What is the clinical context, and which models exist?"),
    Question("3b", "For whom is the model meant, where in the care, and used by whom?"),
    Question("3c", "Which inequalities between groups of people are known?"),
    Question("4", "Is the aim to develop a model, to evaluate one, or both?"),
    Question("5a", "Where do the data come from, and whom do they stand for?"),
    Question("5b", "When were people taken in and followed up?"),
    Question("6a", "In which setting, in how many centres, where?"),
    Question("6b", "Who was eligible?"),
    Question("6c", "Which treatments were given, and how were they dealt with?"),
    Question("7", "How were data prepared and checked, alike in all groups?", _preparation),
    Question("8a", "Which outcome, at which time, and how was it assessed?"),
    Question("8b", "If the outcome needs judgement, who judged?"),
    Question("8c", "Did those who assessed the outcome know the predictors?"),
    Question("9a", "How were the candidate predictors chosen?"),
    Question("9b", "How and when was each predictor measured?"),
    Question("9c", "If a predictor needs judgement, who judged?"),
    Question("10", "How was the size of the study arrived at?", _size),
    Question("11", "How were missing values dealt with?", _gaps),
    Question("12a", "How were the data used for development and for evaluation?", _use),
    Question("12b", "How did predictors enter the model (scale, shape)?", _preparation),
    Question("12c", "Which kind of model, which steps, which tuning, which validation?", _building),
    Question("12d", "How were differences between clusters dealt with?", _clusters),
    Question("12e", "By which measures and figures was performance told?", _measures),
    Question("12f", "Was the model updated after its evaluation?"),
    Question("12g", "How were the predictions computed that were evaluated?", _use),
    Question("13", "Were classes rebalanced, and was calibration mended after that?", _balance),
    Question("14", "What was done so that the model is fair?", _fairness),
    Question("15", "What does the model say, and how are thresholds chosen?", _output),
    Question("16", "How do the data of development and of evaluation differ?"),
    Question("17", "Which ethics committee approved, and how did people consent?"),
    Question("18a", "Who paid?"),
    Question("18b", "Which interests do the authors declare?"),
    Question("18c", "Where is the protocol?"),
    Question("18d", "Where was the study registered?"),
    Question("18e", "Are the data to be had?"),
    Question("18f", "Is the code to be had?", _code),
    Question("19", "Did patients and public take part?"),
    Question("20a", "How many people, with and without the outcome?", counted),
    Question("20b", "What are the people like, overall and by group?"),
    Question("20c", "How do they compare with those of the development?"),
    Question("21", "How many rows and events were in each analysis?", _analysed),
    Question("22", "Is the model told in full, so that others can use it?"),
    Question("23a", "How well does it do, with intervals, also in key subgroups?", _subgroups),
    Question("23b", "How does performance differ between clusters?"),
    Question("24", "If it was updated: what came of it?"),
    Question("25", "What do the results mean, for fairness too?"),
    Question("26", "What are the limits, and in which direction do they bias?"),
    Question("27a", "What is to be done with poor or missing input?"),
    Question("27b", "What must users do or know?"),
    Question("27c", "What comes next?"),
)
