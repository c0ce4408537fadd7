"""What a report of a prediction model says: TRIPOD+AI, filled in as far as data tell.

An item is told in our words and carries the number that it has in the guideline.

Collins GS, Moons KGM, Dhiman P et al. (2024). TRIPOD+AI statement: updated guidance for reporting
clinical prediction models that use regression or machine learning methods. BMJ 385:e078378.
"""

from __future__ import annotations

from truerisk.core.present import listed, rows_counted
from truerisk.validation.checklists.study_facts import GIVEN, StudyFacts, TestedOn
from truerisk.validation.checklists.study_words import (
    INSIDE,
    UNBALANCED,
    Question,
    counted,
    gaps_left,
    levels_said,
    measured_by,
    size,
    software,
    splits,
    tested,
    values_said,
)


def _size(facts: StudyFacts) -> str | None:
    found = size(facts)
    return None if found is None else f"{found}. State how that number was chosen."


def _counted_alone(facts: StudyFacts) -> str:
    return f"{counted(facts)}. State how that number was chosen."


def _preparation(facts: StudyFacts) -> str | None:
    before = facts.steps[:-1]
    if not before:
        return "X went into the learner as it was given. State what was done before."
    return (
        f"{', '.join(before)}, each fitted inside the training rows of every split. State what was "
        "done before."
    )


def _gaps(facts: StudyFacts) -> str | None:
    if facts.n_gaps is None:
        return None
    if facts.n_gaps == 0:
        return "X has no cell without a value. State which were left out, or filled, before."
    how = (
        "filled or coded by a step of the model, inside the folds"
        if facts.imputed
        else "left to the model"
    )
    return (
        f"{facts.n_gaps} cells without a value in {facts.n_rows_with_gaps} rows, {how}. State why "
        "they are missing."
    )


def _use(facts: StudyFacts) -> str:
    if not facts.n_untested:
        said = (
            f"All {facts.n_rows} rows served both: {tested(facts)}, in which a row was tested "
            "only by models that had not seen it, and the final model was fitted on all rows."
        )
    else:
        said = (
            f"{facts.n_tested} of {facts.n_rows} rows were tested by {tested(facts)}, only by "
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
    "others": "",
}


def _building(facts: StudyFacts) -> str:
    if facts.n_settings == 1:
        how = "nothing was tuned"
        if facts.tunes_inside:
            how = f"{INSIDE}, anew in every outer training set"
        return f"{facts.learner} with one setting ({facts.setting}); {how}."
    return (
        f"{facts.learner}; {facts.n_settings} settings compared by {splits(facts.chosen_by)} "
        f"inside every outer training set; chosen on all rows: {facts.setting}."
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
        return "Does not apply: y holds numbers."
    share = min(facts.class_counts.values()) / sum(facts.class_counts.values())
    how = "State what was done about it."
    if facts.rebalanced == ():
        how = f"{UNBALANCED[0].upper()}{UNBALANCED[1:]}; state what was done before."
    elif facts.rebalanced is not None:
        how = f"Classes are rebalanced by {listed(facts.rebalanced)}; state why."
    of = "rows whose class is known" if facts.n_lost else "rows"
    return f"The rarest class has {share:.1%} of the {of}. {how}"


def _fairness(facts: StudyFacts) -> str | None:
    if not facts.subgroups:
        return None
    return (
        f"Performance was reported by {', '.join(facts.subgroups)}, "
        f"{levels_said(facts, 'simultaneous intervals')}. State what was done about differences."
    )


def _subgroups(facts: StudyFacts) -> str:
    base = values_said(facts)
    if not facts.subgroups:
        return f"{base}; no subgroups were asked for."
    small = f" (too few rows: {', '.join(facts.too_small)})" if facts.too_small else ""
    sure = levels_said(facts, "simultaneous intervals")
    return f"{base}; by {', '.join(facts.subgroups)}{small}, {sure}."


def _code(facts: StudyFacts) -> str:
    return f"{software(facts)}. State where your code is available."


def _model(facts: StudyFacts) -> str | None:
    if not facts.coefficients:
        return None
    terms = "; ".join(f"{name}: {value:.6g}" for name, value in facts.coefficients.items())
    before = f" after {', '.join(facts.steps[:-1])}" if facts.steps[1:] else ""
    if facts.unscaled:
        before = ", in the units of the columns"
    more = "" if facts.unscaled or not facts.steps[1:] else " State what these steps do in numbers."
    return f"Coefficients of {facts.learner}{before}: {terms}.{more}"


def _analysed(facts: StudyFacts) -> str:
    if not facts.n_untested:
        return f"{counted(facts)}, in tuning, fitting and testing alike."
    tested = rows_counted(facts.n_tested, facts.tested_counts)
    return f"{counted(facts)}, in tuning and fitting; {tested} in testing."


def _as_prepared(facts: StudyFacts) -> str | None:
    if facts.n_columns is None:
        return None
    before = facts.steps[:-1]
    if not before:
        return "X went into the finished model as it was given. State what was done before."
    return (
        f"{', '.join(before)}, as they are in the finished model; nothing was fitted to these "
        "rows. State what was done before."
    )


def _evaluated_alone(facts: StudyFacts) -> str:
    return (
        f"All {facts.n_rows} rows served evaluation alone: a finished model was applied to them. "
        "State on which people it was developed, and that none of them are here."
    )


def _predictions(facts: StudyFacts) -> str:
    """Return who predicted what about a tested row, and by which software."""
    before = f"; {listed(facts.fitted_parts)} was fitted before" if facts.fitted_parts else ""
    return (
        f"Each tested row was given {facts.response} by {' → '.join(facts.steps)} fitted to "
        f"training rows without it, by {tested(facts)}{before}. Computed by {software(facts)}."
    )


def _predictions_of_finished(facts: StudyFacts) -> str:
    if facts.steps == GIVEN:
        return "The predictions were given. State how they were computed."
    return (
        f"The finished model ({' → '.join(facts.steps)}) was asked for {facts.response} of each "
        f"of the {facts.n_rows} rows."
    )


def _finished_before(facts: StudyFacts) -> str:
    return f"{' → '.join(facts.steps)}, finished before; nothing was fitted or tuned here."


def _clusters_counted(facts: StudyFacts) -> str | None:
    if facts.n_groups is None:
        return None
    return f"Each of the {facts.n_groups} groups counts as one in every interval."


def _update(facts: StudyFacts) -> str | None:
    return None if facts.updating is None else f"Not here. {facts.updating}"


TRIPOD_AI = (
    Question("1", "Title: does it name the aim (to develop, to evaluate), people and outcome?"),
    Question("2", "Abstract: does it follow TRIPOD+AI for abstracts?"),
    Question("3a", "What is the clinical context, and which models exist?"),
    Question("3b", "For whom is the model meant, where in the care, and used by whom?"),
    Question("3c", "Which inequalities between groups of people are known?"),
    Question(
        "4",
        "Is the aim to develop a model, to evaluate one, or both?",
        finished=lambda facts: "To evaluate a finished model.",
    ),
    Question("5a", "Where do the data come from, and whom do they stand for?"),
    Question("5b", "When were people enrolled and followed up?"),
    Question("6a", "In which setting, in how many centres, where?"),
    Question("6b", "Who was eligible?"),
    Question("6c", "Which treatments were given, and how were they handled?"),
    Question(
        "7", "How were data prepared and checked, alike in all groups?", _preparation, _as_prepared
    ),
    Question("8a", "Which outcome, at which time, and how was it assessed?"),
    Question("8b", "If the outcome needs judgement, who judged?"),
    Question("8c", "Did those who assessed the outcome know the predictors?"),
    Question("9a", "How were the candidate predictors chosen?"),
    Question("9b", "How and when was each predictor measured?"),
    Question("9c", "If a predictor needs judgement, who judged?"),
    Question("10", "How was the size of the study arrived at?", _size, _counted_alone),
    Question("11", "How were missing values handled?", _gaps, gaps_left),
    Question(
        "12a", "How were the data used for development and for evaluation?", _use, _evaluated_alone
    ),
    Question(
        "12b", "How did predictors enter the model (scale, shape)?", _preparation, _as_prepared
    ),
    Question(
        "12c",
        "Which kind of model, which steps, which tuning, which validation?",
        _building,
        _finished_before,
    ),
    Question("12d", "How were differences between clusters handled?", _clusters, _clusters_counted),
    Question(
        "12e",
        "Which measures and figures were used to report performance?",
        _measures,
        lambda facts: f"{measured_by(facts)}, of all rows as one test set.",
    ),
    Question("12f", "Was the model updated after its evaluation?", finished=_update),
    Question(
        "12g",
        "How were the predictions computed that were evaluated?",
        _predictions,
        _predictions_of_finished,
    ),
    Question("13", "Were classes rebalanced, and was calibration corrected afterwards?", _balance),
    Question("14", "What was done so that the model is fair?", _fairness),
    Question(
        "15",
        "What does the model predict, and how are thresholds chosen?",
        lambda facts: f"The model answers with {facts.response}.",
    ),
    Question("16", "How do the data of development and of evaluation differ?"),
    Question("17", "Which ethics committee approved, and how did people consent?"),
    Question("18a", "Who paid?"),
    Question("18b", "Which interests do the authors declare?"),
    Question("18c", "Where is the protocol?"),
    Question("18d", "Where was the study registered?"),
    Question("18e", "Are the data available?"),
    Question("18f", "Is the code available?", _code),
    Question("19", "Did patients and public take part?"),
    Question("20a", "How many people, with and without the outcome?", counted),
    Question("20b", "What are the people like, overall and by group?"),
    Question("20c", "How do they compare with those of the development?"),
    Question(
        "21",
        "How many rows and events were in each analysis?",
        _analysed,
        lambda facts: f"{counted(facts)}, in evaluation alone.",
    ),
    Question("22", "Is the model reported in full, so that others can use it?", _model),
    Question("23a", "How well does it perform, with intervals, also in key subgroups?", _subgroups),
    Question("23b", "How does performance differ between clusters?"),
    Question("24", "If it was updated: what were the results?"),
    Question("25", "What do the results mean, for fairness too?"),
    Question("26", "What are the limits, and in which direction do they bias?"),
    Question("27a", "What is to be done with poor or missing input?"),
    Question("27b", "What must users do or know?"),
    Question("27c", "What comes next?"),
)
