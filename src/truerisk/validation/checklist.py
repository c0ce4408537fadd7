"""A reporting and a risk-of-bias checklist, filled in as far as the data tell.

An item is told in our words and carries the number that it has in its guideline: TRIPOD+AI (Collins
et al., 2024) for what a report says, PROBAST (Wolff et al., 2019) for what may bias it. What a
program cannot know stays an open question.

Collins GS, Moons KGM, Dhiman P et al. (2024). TRIPOD+AI statement: updated guidance for reporting
clinical prediction models that use regression or machine learning methods. BMJ 385:e078378.
Wolff RF, Moons KGM, Riley RD et al. (2019). PROBAST: a tool to assess the risk of bias and
applicability of prediction model studies. Annals of Internal Medicine 170:51–58.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from truerisk.core.present import frame_of, rows_counted
from truerisk.core.records import Record
from truerisk.validation.finished_model import ANSWERS
from truerisk.validation.study_facts import StudyFacts, TestedOn
from truerisk.validation.study_words import (
    INVERSE,
    counted,
    levels_said,
    measured_by,
    methods_words,
    size,
    software,
    splits,
    tested,
    values_said,
)


@dataclass(frozen=True)
class Question:
    """The number of an item, what it asks in our words, and the sentence that facts make of it."""

    number: str
    asks: str
    answer: Callable[[StudyFacts], str | None] = lambda facts: None  # only people can answer


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
        return (
            f"{word} by the criteria of Riley et al. (2019) for a regression with a parameter for "
            f"each {each} and the honest R²: {facts.n_needed} rows are needed, and there are "
            f"{facts.n_rows}."
        )
    word = "no" if ratio < FEW else "probably" if ratio < ENOUGH else "yes"
    return (
        f"{word} by the rule of {FEW} to {ENOUGH} per candidate predictor, columns taken as "
        f"predictors: {size(facts)}."
    )


def _gaps_dealt_with(facts: StudyFacts) -> str | None:
    if facts.n_gaps is None:
        return None
    if facts.n_gaps == 0:
        return "X has no gaps; state whether rows with gaps were left out before."
    how = "inside every split" if facts.imputed else "by the model itself"
    return f"{facts.n_rows_with_gaps} rows have missing values, which are handled {how}."


def _univariable(facts: StudyFacts) -> str | None:
    if facts.selects:
        return (
            "A step selects columns, anew inside every split, so that its optimism is counted; "
            "state whether it looks at one column at a time."
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
    return f"yes: {tested(facts)}, {tuning}{more}.{stable}"


def _censoring(facts: StudyFacts) -> str | None:
    if facts.n_lost is None:
        return None
    lost = "Nobody was lost before."
    if facts.n_lost:
        lost = f"{facts.n_lost} people were lost before: others count for them, {INVERSE}."
    return f"{lost} State whether other events compete."


PROBAST = (
    Question("1.1", "Are the data from a suitable design (cohort, trial, nested case-control)?"),
    Question("1.2", "Were the right people included and excluded?"),
    Question("2.1", "Were predictors defined and measured in the same way for all?"),
    Question("2.2", "Were they measured without knowing the outcome?"),
    Question("2.3", "Are all of them known at the time when the model is to be used?"),
    Question("3.1", "Was the outcome determined in a suitable way?"),
    Question("3.2", "Was it defined before, or by a standard?"),
    Question("3.3", "Are the predictors no part of its definition?"),
    Question("3.4", "Was it determined in the same way for all?"),
    Question("3.5", "Was it determined without knowing the predictors?"),
    Question("3.6", "Did a suitable time pass between predictors and outcome?"),
    Question("4.1", "Are there enough people with the outcome?", _enough),
    Question("4.2", "Were numbers and categories handled well (no needless categorising)?"),
    Question("4.3", "Is everyone who was enrolled also in the analysis?"),
    Question("4.4", "Were missing values handled well?", _gaps_dealt_with),
    Question("4.5", "Were predictors not chosen by single associations?", _univariable),
    Question(
        "4.6", "Were censoring, competing risks and sampling of controls accounted for?", _censoring
    ),
    Question("4.7", "Was performance measured by suitable measures?", _performance),
    Question("4.8", "Were overfitting and optimism accounted for?", _optimism),
    Question("4.9", "Are the weights of the final model those of the analysis?"),
)


def _size(facts: StudyFacts) -> str | None:
    found = size(facts)
    return None if found is None else f"{found}. State how that number was chosen."


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
        return "X has no cell without a value. State which rows were left out before."
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
        return f"{facts.learner} with one setting ({facts.setting}); nothing was tuned."
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
        return None
    share = min(facts.class_counts.values()) / sum(facts.class_counts.values())
    return f"The rarest class has {share:.1%} of the rows. State what was done about it."


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
    terms = "; ".join(f"{name}: {value:.4g}" for name, value in facts.coefficients.items())
    before = f" after {', '.join(facts.steps[:-1])}" if facts.steps[1:] else ""
    return f"Coefficients of {facts.learner}{before}: {terms}."


def _analysed(facts: StudyFacts) -> str:
    if not facts.n_untested:
        return f"{counted(facts)}, in tuning, fitting and testing alike."
    tested = rows_counted(facts.n_tested, facts.tested_counts)
    return f"{counted(facts)}, in tuning and fitting; {tested} in testing."


TRIPOD_AI = (
    Question("1", "Title: does it name the aim (to develop, to evaluate), people and outcome?"),
    Question("2", "Abstract: does it follow TRIPOD+AI for abstracts?"),
    Question("3a", "What is the clinical context, and which models exist?"),
    Question("3b", "For whom is the model meant, where in the care, and used by whom?"),
    Question("3c", "Which inequalities between groups of people are known?"),
    Question("4", "Is the aim to develop a model, to evaluate one, or both?"),
    Question("5a", "Where do the data come from, and whom do they stand for?"),
    Question("5b", "When were people enrolled and followed up?"),
    Question("6a", "In which setting, in how many centres, where?"),
    Question("6b", "Who was eligible?"),
    Question("6c", "Which treatments were given, and how were they handled?"),
    Question("7", "How were data prepared and checked, alike in all groups?", _preparation),
    Question("8a", "Which outcome, at which time, and how was it assessed?"),
    Question("8b", "If the outcome needs judgement, who judged?"),
    Question("8c", "Did those who assessed the outcome know the predictors?"),
    Question("9a", "How were the candidate predictors chosen?"),
    Question("9b", "How and when was each predictor measured?"),
    Question("9c", "If a predictor needs judgement, who judged?"),
    Question("10", "How was the size of the study arrived at?", _size),
    Question("11", "How were missing values handled?", _gaps),
    Question("12a", "How were the data used for development and for evaluation?", _use),
    Question("12b", "How did predictors enter the model (scale, shape)?", _preparation),
    Question("12c", "Which kind of model, which steps, which tuning, which validation?", _building),
    Question("12d", "How were differences between clusters handled?", _clusters),
    Question("12e", "Which measures and figures were used to report performance?", _measures),
    Question("12f", "Was the model updated after its evaluation?"),
    Question("12g", "How were the predictions computed that were evaluated?", _use),
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
    Question("21", "How many rows and events were in each analysis?", _analysed),
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


GUIDELINES = {"TRIPOD+AI": TRIPOD_AI, "PROBAST": PROBAST}


@dataclass(frozen=True)
class Item:
    """One item: what it asks, and what the data and the computation answer, None if nothing."""

    guideline: str
    number: str
    asks: str
    answer: str | None


COLUMNS = ("guideline", "number", "asks", "answer")


@dataclass(frozen=True)
class Checklist(Record):
    """All items of both guidelines; `open_questions` are those that only people can answer.

    `methods_text` is what was done, as a paragraph for a paper.
    """

    items: tuple[Item, ...]
    methods_text: str

    @classmethod
    def of(cls, facts: StudyFacts) -> Checklist:
        """Filled in by what is known of a study."""
        instead = ANSWERS if facts.finished else {}
        items = tuple(
            Item(name, each.number, each.asks, instead.get((name, each.number), each.answer)(facts))
            for name, questions in GUIDELINES.items()
            for each in questions
        )
        return cls(items, methods_words(facts))

    @property
    def open_questions(self) -> tuple[Item, ...]:
        """What no data and no computation tell."""
        return tuple(item for item in self.items if item.answer is None)

    def to_frame(self) -> Any:
        """A line for each item."""
        return frame_of({name: [getattr(item, name) for item in self.items] for name in COLUMNS})

    def save(self, path: Any) -> None:
        """Write the items to fill in: `.docx` (with the paragraph), `.xlsx` or `.csv`."""
        from truerisk.validation.checklist_file import write_table

        rows = [[getattr(item, name) or "" for name in COLUMNS] for item in self.items]
        write_table(path, COLUMNS, rows, self.methods_text)

    def __str__(self) -> str:
        """The answers; of the open questions the numbers, `frame` has them all."""
        lines = []
        for name in GUIDELINES:
            mine = [item for item in self.items if item.guideline == name]
            told = [item for item in mine if item.answer is not None]
            unsaid = ", ".join(item.number for item in mine if item.answer is None)
            lines.append(f"{name}: {len(told)} of {len(mine)} items are answered by the data.")
            lines += [f"  {item.number:>4}  {item.asks}\n        {item.answer}" for item in told]
            lines.append(f"  open, for you to answer: {unsaid}")
        return "\n".join([*lines, "", self.methods_text])
