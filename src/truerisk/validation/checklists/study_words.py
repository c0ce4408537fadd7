"""What was done, in the words of the guidelines: a paragraph, and what answers an item."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from truerisk.core.present import listed, number, rows_counted
from truerisk.intervals import as_form, names
from truerisk.validation.checklists.study_facts import CURVE, SLOPE, Rated, StudyFacts, TestedOn
from truerisk.validation.measures import rounded


def methods_words(facts: StudyFacts) -> str:
    """Participants, missing data, model building, validation, performance, what was not done."""
    said = [_participants(facts), _building(facts), _validation(facts), _performance(facts)]
    if not facts.finished:  # whose intervals take rows as independent, and no factor is calibrated
        said += cautions({one.interval for one in facts.measures})
    said += [facts.updating or "", _not_done(facts), f"Analyses used {software(facts)}."]
    return " ".join(filter(None, said))


UNBALANCED = "no class weights and no resampling were found in the model"
INSIDE = "settings are tuned inside the learner's own fit"
NOT_APPLICABLE = "does not apply: "
"""Beginning of the answer to a question that this study does not raise."""

INVERSE = "weighted by the inverse chance of being followed (of Kaplan and Meier)"


def cautions(words: Collection[str | None]) -> list[str]:
    """What intervals of these words rest on that no publication says, a sentence for each."""
    those: dict[str, list[str]] = {}
    for word in names():
        if {word, f"{word}-grouped"} & {*words}:
            those.setdefault(as_form(word).caution, []).append(word)
    return [f"Intervals {listed(each)} {what}." for what, each in those.items() if what]


SOFTWARE = {
    "sklearn": "scikit-learn {} (Pedregosa et al., JMLR 12:2825, 2011)",
    "sksurv": "scikit-survival {} (Pölsterl, JMLR 21:212, 2020)",
    "numpy": "NumPy {} (Harris et al., Nature 585:357, 2020)",
    "python": "Python {}",
}


def software(facts: StudyFacts) -> str:
    """With versions, where it was published, and the seed."""
    each = [SOFTWARE.get(n, f"{n} {{}}").format(version) for n, version in facts.versions.items()]
    return f"{listed(each)} (seed {facts.seed})" if each else f"seed {facts.seed}"


def _participants(facts: StudyFacts) -> str:
    kind = "predictors" if facts.finished else "candidate predictors"
    columns = "" if facts.n_columns is None else f", with {facts.n_columns} {kind}"
    who = counted(facts)
    if facts.event is not None and facts.event in facts.class_counts:
        clusters = "" if facts.n_groups is None else f" in {facts.n_groups} clusters"
        n_events = facts.class_counts[facts.event]
        who = f"{facts.n_rows} participants{clusters}, of whom {n_events} had the event "
        who += f"('{facts.event}')"
        if facts.n_lost:
            who += f" and {facts.n_lost} were not followed so far, for whom others count, {INVERSE}"
    gaps = " No values were missing." if facts.n_gaps == 0 else ""
    if facts.n_gaps:
        how = (
            "imputed or coded within each training set" if facts.imputed else "left to the learner"
        )
        how = "left to the finished model" if facts.finished else how
        gaps = f" Missing values ({facts.n_rows_with_gaps} participants) were {how}."
    return f"We analysed {who}{columns}.{gaps}"


def _building(facts: StudyFacts) -> str:
    steps = " → ".join(facts.steps)
    if facts.finished:
        return f"A finished model ({steps}) was applied to them; nothing was fitted."
    inside = f"; {INSIDE}" if facts.tunes_inside else ""
    said = f"The model was {steps} ({facts.setting}){inside}."
    if facts.n_settings > 1:
        said = (
            f"The model was {steps}; its settings were chosen among {facts.n_settings} by "
            f"{splits(facts.chosen_by)}, by {facts.measures[0].name} (final: {facts.setting})."
        )
    if facts.rebalanced:
        after = ", and probabilities were calibrated after that" if facts.recalibrated else ""
        said += f" Classes were rebalanced by {listed(facts.rebalanced)} in training{after}."
    return said


def splits(word: str, *, tuned: bool = False) -> str:
    """A method by its word, to readers who know cross-validation.

    >>> splits("pairs (5-fold)", tuned=True)
    'nested cross-validation on one set of folds (5-fold)'
    >>> splits("5-fold"), splits("forward-5")
    ('5-fold cross-validation', 'forward-5')
    """
    kind, _, folds = word.partition(" (")
    if kind == "pairs" and tuned:
        return f"nested cross-validation on one set of folds ({folds}"
    if kind == "nested" and tuned:
        return f"nested cross-validation ({folds}"
    if kind in ("pairs", "nested"):  # nothing was tuned: the splits that tested are all there is
        word = folds.removesuffix(")").partition(", inner ")[0]
    return f"{word} cross-validation" if word.endswith("-fold") else word


def tested(facts: StudyFacts) -> str:
    """The splits that tested; nested where something was tuned inside."""
    return splits(facts.tested_by, tuned=facts.n_settings > 1)


def _validation(facts: StudyFacts) -> str:
    if facts.finished:
        said = "They are one test set of one model: nothing was corrected for optimism"
        units = "them" if facts.n_groups is None else f"the {facts.n_groups} clusters"
        return f"{said}." if facts.dependent else f"{said}; intervals take {units} as independent."
    inside = ", with all tuning repeated inside," if facts.tuned else ""
    kind, on = KINDS[facts.tested_on]
    said = f"{kind} was by {tested(facts)}{inside} on {on}."
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
    who = "these participants" if facts.finished else "participants held out"
    said = f"Performance in {who}, with {_level(facts)} confidence intervals: "
    said += f"{values_said(facts)}.{_calibration(facts)}"
    if facts.subgroups:
        said += (
            f" Performance was reported by {', '.join(facts.subgroups)}, "
            f"{levels_said(facts, 'intervals that hold simultaneously')}{shrunken_said(facts)}."
        )
    return said if facts.stability is None else f"{said} {facts.stability}"


def values_said(facts: StudyFacts) -> str:
    """Each measure with its value, its interval and the word of that; curves by their names."""
    return "; ".join(_rated_said(one) for one in facts.measures)


def _rated_said(one: Rated) -> str:
    *words, last = one.name.split()
    name = " ".join([*words, one.part, last]) if one.part == "calibration" else one.name
    band = "no interval" if one.interval is None else one.interval
    if one.value is None:
        return f"{name} as a figure ({band})"
    ends = one.ends or ()
    if one.ends is not None:
        low, high = (rounded(end, one.value, *ends) for end in ends)
        band = f"{low} to {high}, {one.interval}"
    if one.of_final_model is not None:
        final = rounded(one.of_final_model, one.value, *ends)
        said = f"{name} {rounded(one.value, *ends)}, of the final model {final} ({band})"
        if one.corrected is not None:
            said += f", corrected for optimism {rounded(one.corrected, one.value, *ends)}"
        return said
    if one.corrected is not None:
        band += f"; corrected for optimism {rounded(one.corrected, one.value, *ends)}"
    return f"{name} {rounded(one.value, *ends)} ({band})"


def _not_done(facts: StudyFacts) -> str:
    missing = [] if facts.finished else ["validation in other people than these"]
    if not facts.calibrated:
        missing.append("calibration")
    if not facts.subgroups:
        missing.append("a comparison of subgroups")
    if not facts.corrected and not facts.finished:
        missing.append("a bootstrap estimate of optimism")
    return f"Not done: {listed(missing)}." if missing else ""


def _calibration(facts: StudyFacts) -> str:
    """What line and curve are, as far as there are any."""
    known = {one.name: one.interval for one in facts.measures if one.part == "calibration"}
    said = []
    if SLOPE in known:
        kind = "logistic" if facts.class_counts else "linear"
        who = "these participants" if facts.finished else "participants held out"
        folds = " and a jackknife over folds" if known[SLOPE] == "sandwich-pairs" else ""
        sure = f", with intervals by the sandwich estimator{folds}" if known[SLOPE] else ""
        said.append(
            f"the slope is that of the {kind} recalibration of the predictions of {who}, and "
            f"calibration in-the-large is its intercept at a slope of 1{sure}"
        )
    if CURVE in known:
        said.append("the flexible curve is a restricted cubic spline")
    told = "; ".join(said)
    return f" {told[0].upper()}{told[1:]}." if told else ""


def _level(facts: StudyFacts) -> str:
    """The confidence level."""
    return f"{100 * facts.confidence_level:.15g}%"


def measured_by(facts: StudyFacts) -> str:
    """The measures, those of one part together."""
    parts: dict[str, list[str]] = {}
    for one in facts.measures:
        parts.setdefault(one.part or one.name, []).append(one.name)
    return ", ".join(
        name if names == [name] else f"{name} ({', '.join(names)})" for name, names in parts.items()
    )


def levels_said(facts: StudyFacts, intervals: str) -> str:
    """The `intervals` that subgroups have, and of which losses."""
    sure = [one.name for one in facts.by_level if one.interval is not None]
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


def counted(facts: StudyFacts) -> str:
    """Rows, with those of every class."""
    lost = f", {facts.n_lost} were not followed so far" if facts.n_lost else ""
    return rows_counted(facts.n_rows, facts.class_counts, facts.n_groups) + lost


def size(facts: StudyFacts) -> str | None:
    """Rows and events per candidate column."""
    ratio = facts.rarest_per_column
    if ratio is None:
        return None
    what = "rows of the rarest class" if facts.class_counts else "rows"
    return (
        f"{counted(facts)}; {facts.n_columns} columns, {number(ratio, 1)} {what} per column "
        "before any selection"
    )


def gaps_left(facts: StudyFacts) -> str | None:
    """Of a finished model, which nothing imputes for."""
    if facts.n_gaps is None:
        return None
    if facts.n_gaps == 0:
        return "X has no cell without a value. State which rows were left out before."
    return (
        f"{facts.n_gaps} cells without a value in {facts.n_rows_with_gaps} rows, left to the "
        "finished model. State why they are missing."
    )


Answer = Callable[[StudyFacts], str | None]


def only_people_know(facts: StudyFacts) -> None:
    """What no data and no computation tell."""


@dataclass(frozen=True)
class Question:
    """The number of an item, what it asks in our words, and the sentence that facts make of it.

    `finished` answers where a finished model was evaluated and nothing was developed; by default
    the answer is the same.
    """

    number: str
    asks: str
    answer: Answer = only_people_know
    finished: Answer | None = None
