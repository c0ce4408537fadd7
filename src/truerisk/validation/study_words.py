"""What was done, as a paragraph in the words of the reporting guidelines; its measures in words."""

from __future__ import annotations

from collections.abc import Sequence

from truerisk.core.present import number, rows_counted
from truerisk.validation.study_facts import CURVE, SLOPE, Rated, StudyFacts, TestedOn


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


def listed(names: Sequence[str]) -> str:
    """With an "and" before the last.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _level(facts: StudyFacts) -> str:
    """The confidence level."""
    return f"{100 * facts.confidence_level:g}%"


def measured_by(facts: StudyFacts) -> str:
    """The measures, those of one part together."""
    parts: dict[str, list[str]] = {}
    for one in facts.measures:
        parts.setdefault(one.part or one.name, []).append(one.name)
    return ", ".join(
        name if names == [name] else f"{name} ({', '.join(names)})" for name, names in parts.items()
    )


def sure_said(facts: StudyFacts) -> str:
    """Which of the measures have an interval."""
    sure = _names_with_interval(facts.measures)
    if not sure:
        return "without intervals"
    if len(sure) == len(facts.measures):
        return f"with {_level(facts)} intervals"
    return f"with {_level(facts)} intervals of {listed(sure)} alone"


def levels_said(facts: StudyFacts, intervals: str) -> str:
    """The `intervals` that subgroups have, and of which losses."""
    sure = _names_with_interval(facts.by_level)
    if not sure:
        return "without intervals"
    of = "" if len(sure) == len(facts.by_level) else f" (of {listed(sure)})"
    return f"with {intervals}{of}"


def shrunken_said(facts: StudyFacts) -> str:
    """Which columns have estimates drawn to the mean of their levels; nothing where none has."""
    if not facts.shrunken:
        return ""
    of = "" if facts.shrunken == facts.subgroups else f" by {listed(facts.shrunken)}"
    return f" and empirical Bayes estimates{of}"


def _names_with_interval(measures: Sequence[Rated]) -> list[str]:
    return [one.name for one in measures if one.interval is not None]


def counted(facts: StudyFacts) -> str:
    """Rows, with those of every class."""
    return rows_counted(facts.n_rows, facts.class_counts, facts.n_groups)


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
