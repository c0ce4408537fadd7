"""Turn the facts of a study into sentences, and fill in the checklists with them.

The sentences are in TOML files in this folder; study_words.toml says how they are chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from string import Formatter
from typing import Any

from truerisk.core.formats import describe_row_counts, format_number, join_words
from truerisk.intervals import as_form, names
from truerisk.validation.checklists.paper_words import (
    interval_words,
    model_words,
    read_toml,
    score_words,
    split_words,
)
from truerisk.validation.checklists.study_facts import (
    CURVE_NAME,
    PREDICTIONS_ONLY_STEPS,
    SLOPE_NAME,
    ReportedMeasure,
    StudyFacts,
    StudySoftware,
)
from truerisk.validation.measures import format_rounded
from truerisk.validation.prediction_stability import BOOTSTRAP_SOURCE_NOTE

ENOUGH_EVENTS_PER_COLUMN, FEW_EVENTS_PER_COLUMN = (
    20,
    10,
)  # events per candidate predictor that suffice or are too few, if R² is unknown
INVERSE_PENALTY_LEARNERS = ("LogisticRegression", "LinearSVC", "LinearSVR", "SVC", "SVR")
TEST_ROW_RELATIONS = (
    "later",
    "below",
    "among",
    "apart",
    "near",
)  # relations of tested to training rows


class Sentences:
    """Sentences about one study, filled in with its facts and with texts derived from them."""

    def __init__(self, facts: StudyFacts, *guidelines: str) -> None:
        self.facts = known_facts(facts)
        self.words: dict[str, Any] = {}
        for name in ("study_words", *guidelines):
            self.words |= read_toml(name)["words"]

    def fill(self, sentence_choices: Any) -> str | None:
        """Fill in the first sentence whose conditions hold; return None if no sentence applies."""
        for sentence_choice in (
            [sentence_choices] if isinstance(sentence_choices, str) else sentence_choices
        ):
            sentence = (
                {"say": sentence_choice} if isinstance(sentence_choice, str) else sentence_choice
            )
            conditions = sentence["when"].split(", ") if "when" in sentence else ()
            if all(self._holds(condition) for condition in conditions):
                fields = [field for _, field, _, _ in Formatter().parse(sentence["say"]) if field]
                field_values = {field: self.look_up(field) for field in fields}
                if None not in field_values.values():
                    return str(sentence["say"].format(**field_values))
        return None

    def look_up(self, name: str) -> Any:
        """Return a fact by name, or the text that a TOML file defines for it; None if unknown."""
        return self.fill(self.words[name]) if name in self.words else self.facts[name]

    def paragraph(self) -> str:
        """Describe participants, missing data, model, validation, performance and omissions."""
        text = map(self.look_up, read_toml("study_words")["paragraph"])
        return " ".join(filter(None, text))

    def _holds(self, fact: str) -> bool:
        """Return True if a fact holds, or if the fact after "not" does not hold."""
        name = fact.removeprefix("not ")
        return bool(self.facts[name]) == (name == fact)


def known_facts(facts: StudyFacts) -> dict[str, Any]:
    """Return all facts that a sentence can mention or depend on, by name; None if unknown."""
    rows, model, testing, results = facts.rows, facts.model, facts.testing, facts.results
    class_counts, earlier_steps = rows.class_counts, model.steps[:-1]
    words_of_model = model_words(
        (*(model.prepared_by or earlier_steps), model.steps[-1]), model.penalty
    )
    rarest_class_count = min(class_counts.values(), default=rows.n_rows)
    events_per_column = rarest_class_count / rows.n_columns if rows.n_columns else None
    n_tested = rows.n_rows if testing.n_tested is None else testing.n_tested
    calibration_intervals = {
        measure.name: measure.interval
        for measure in results.measures
        if measure.part == "calibration"
    }
    losses_with_intervals = [
        score_words(name) for name, has_intervals in results.by_level.items() if has_intervals
    ]
    events_verdict = None
    if events_per_column is not None:
        events_verdict = (
            "no"
            if events_per_column < FEW_EVENTS_PER_COLUMN
            else "probably"
            if events_per_column < ENOUGH_EVENTS_PER_COLUMN
            else "yes"
        )
    measures_by_interval = _measures_by_interval(results.measures)
    interval_cautions = (
        [] if testing.has_finished_model else describe_cautions(measures_by_interval)
    )
    return {
        **vars(rows),
        **vars(model),
        **vars(testing),
        **vars(results),
        # facts about the rows and their classes
        "rows_counted": describe_row_counts(rows.n_rows, class_counts, rows.n_groups),
        "numbers": not class_counts,
        "in_time": rows.n_lost is not None,
        "n_events": None if rows.event is None else class_counts.get(rows.event),
        "n_without_event": sum(n for name, n in class_counts.items() if name != rows.event),
        "participants_counted": describe_row_counts(
            rows.n_rows, class_counts, None, noun="participants"
        ),
        "rarest_share": f"{rarest_class_count / sum(class_counts.values()):.1%}"
        if class_counts
        else None,
        "per_column": None if events_per_column is None else format_number(events_per_column, 1),
        "no_gaps": rows.n_gaps == 0,
        "few": FEW_EVENTS_PER_COLUMN,
        "enough": ENOUGH_EVENTS_PER_COLUMN,
        "enough_rows": events_verdict and _verdict(rows.n_rows, results.n_needed),
        "enough_by_rule": events_verdict,
        "enough_to_test": _verdict(n_tested, results.n_to_validate),
        # facts about the model and its tuning
        "finished": testing.has_finished_model,
        "given": model.steps == PREDICTIONS_ONLY_STEPS,
        "learner": model.steps[-1],
        "chain": " → ".join(model.steps),
        "model_words": words_of_model,
        "has_words": words_of_model != model.steps[-1],
        "has_defaults": model.setting == "as given",
        "has_inverse_penalty": model.steps[-1] in INVERSE_PENALTY_LEARNERS
        and "C" in {text.partition("=")[0] for text in model.setting.split(", ")},
        "steps_listed": join_words(model.steps),
        "before": ", ".join(earlier_steps) or None,
        "before_listed": join_words(earlier_steps) if earlier_steps else None,
        "several_settings": model.n_settings > 1,
        "tuned": model.n_settings > 1 or model.tunes_inside,
        "unbalanced": model.rebalanced == (),
        "rebalanced": join_words(model.rebalanced) if model.rebalanced else None,
        "recalibrated": model.rebalanced and model.recalibrated,
        "fitted_parts": join_words(model.fitted_parts) if model.fitted_parts else None,
        "makes_features": model.n_features not in (None, rows.n_columns),
        "coefficients": "; ".join(
            f"{name}: {coefficient:.6g}" for name, coefficient in model.coefficients.items()
        )
        or None,
        "gives": read_toml("study_words")["responses"][model.response],
        "software": describe_software(facts.software),
        # facts about the splits and the tested rows
        **{relation: testing.tested_on == relation for relation in TEST_ROW_RELATIONS},
        "tuning_splits": describe_splits(testing.chosen_by),
        "test_splits": describe_splits(testing.tested_by),
        "nested_splits": describe_splits(testing.tested_by, is_tuned=True),
        "n_tested": n_tested,
        "n_untested": rows.n_rows - n_tested,
        "tested_counted": describe_row_counts(n_tested, testing.tested_counts),
        # facts about the performance measures
        "moved": None if results.stability is None else format_rounded(results.stability.mape),
        "of_samples": results.stability and results.stability.source == BOOTSTRAP_SOURCE_NOTE,
        "level": f"{100 * results.confidence_level:.15g}%",
        "values": "; ".join(map(_rating_sentence, results.measures)),
        "interval_methods": interval_words(measures_by_interval) or None,
        "measured_by": list_measures_by_part(results.measures),
        "first_measure": next((measure.name for measure in results.measures), None),
        "cautions": " ".join(interval_cautions) or None,
        "calibrated": bool(calibration_intervals),
        "has_slope": SLOPE_NAME in calibration_intervals,
        "has_curve": CURVE_NAME in calibration_intervals,
        "has_net_benefit": any(
            measure.name.startswith("net benefit") for measure in results.measures
        ),
        "subgroups": ", ".join(results.subgroups) or None,
        "too_small": ", ".join(results.too_small) or None,
        "levels_have_intervals": losses_with_intervals,
        "all_levels_have_intervals": len(losses_with_intervals) == len(results.by_level),
        "levels_with_intervals": join_words(losses_with_intervals)
        if losses_with_intervals
        else None,
        "all_shrunken": results.shrunken and results.shrunken == results.subgroups,
        "shrunken": join_words(results.shrunken) if results.shrunken else None,
        "undone": _omissions(facts, is_calibrated=bool(calibration_intervals)),
    }


def _verdict(n_rows: int, n_needed: int | None) -> str | None:
    """Return "yes" if the rows suffice and "no" if not; None if the required number is unknown."""
    return None if n_needed is None else "yes" if n_rows >= n_needed else "no"


def describe_cautions(measures_by_interval: Mapping[str, Collection[str]]) -> list[str]:
    """Return a sentence for each unpublished assumption of the intervals of these measures."""
    measures_by_caution: dict[str, list[str]] = {}
    for name, measures in measures_by_interval.items():
        form_name = name.removesuffix("-grouped")
        caution = as_form(form_name).caution if form_name in names() else ""
        if caution:
            measures_by_caution.setdefault(caution, []).extend(measures)
    return [
        f"The intervals of {join_words(measures)} {caution}."
        for caution, measures in measures_by_caution.items()
    ]


def _measures_by_interval(measures: Collection[ReportedMeasure]) -> dict[str, list[str]]:
    """Return the names of the measures by the name of their interval."""
    grouped_measures: dict[str, list[str]] = {}
    for measure in measures:
        if measure.interval is not None:
            grouped_measures.setdefault(measure.interval, []).append(measure.full_name)
    return grouped_measures


def describe_software(study_software: StudySoftware) -> str:
    """Describe the software: packages with versions and publications, and the random seed."""
    citations: Mapping[str, str] = read_toml("study_words")["software"]
    package_texts = [
        citations.get(name, f"{name} {{}}").format(version)
        for name, version in study_software.versions.items()
    ]
    return (
        f"{join_words(package_texts)} (seed {study_software.seed})"
        if package_texts
        else f"seed {study_software.seed}"
    )


def describe_splits(method: str, *, is_tuned: bool = False) -> str:
    """Describe a splitting method, given by its name, for readers who know cross-validation.

    >>> describe_splits("pairs (5-fold)", is_tuned=True)
    'nested cross-validation on one set of folds (5-fold)'
    >>> describe_splits("5-fold"), describe_splits("forward-5")
    ('5-fold cross-validation', '5 forward splits in time')
    """
    method_name, _, folds_text = method.partition(" (")
    if method_name == "pairs" and is_tuned:
        return f"nested cross-validation on one set of folds ({folds_text}"
    if method_name == "nested" and is_tuned:
        return f"nested cross-validation ({folds_text}"
    # Nothing was tuned, so there are no inner splits to describe.
    if method_name in ("pairs", "nested"):
        method = folds_text.removesuffix(")").partition(", inner ")[0]
    return split_words(method)


def _rating_sentence(measure: ReportedMeasure) -> str:
    """Describe a measure with its value and interval; describe a curve by its name alone."""
    if measure.value is None:
        return f"{measure.full_name} as a figure{'' if measure.interval else ' (no interval)'}"
    limits, interval_text = measure.limits or (), "no interval"
    if measure.limits is not None:
        low, high = (format_rounded(limit, measure.value, *limits) for limit in limits)
        interval_text = f"{low} to {high}"
    value_text, corrected_text = format_rounded(measure.value, *limits), ""
    if measure.corrected is not None:
        corrected_text = (
            f"corrected for optimism {format_rounded(measure.corrected, measure.value, *limits)}"
        )
    if measure.of_final_model is None:
        return (
            f"{measure.full_name} {value_text} "
            f"({'; '.join(filter(None, (interval_text, corrected_text)))})"
        )
    final_value = format_rounded(measure.of_final_model, measure.value, *limits)
    text = f"{measure.full_name} {value_text}, of the final model {final_value} ({interval_text})"
    return f"{text}, {corrected_text}" if corrected_text else text


def list_measures_by_part(measures: Collection[ReportedMeasure]) -> str:
    """List the names of the measures, grouped by the part of the validation."""
    names_by_part: dict[str, list[str]] = {}
    for measure in measures:
        names_by_part.setdefault(measure.part or measure.name, []).append(measure.name)
    return ", ".join(
        name if measure_names == [name] else f"{name} ({', '.join(measure_names)})"
        for name, measure_names in names_by_part.items()
    )


def _omissions(facts: StudyFacts, *, is_calibrated: bool) -> str | None:
    """List, as a text, what the validation leaves out; return None if it leaves out nothing."""
    was_fitted, results = not facts.testing.has_finished_model, facts.results
    omission_flags = {
        "validation in other people than these": was_fitted,
        "calibration": not is_calibrated,
        "a comparison of subgroups": not results.subgroups,
        "a bootstrap estimate of optimism": was_fitted and not facts.testing.corrected,
    }
    omissions = [omission for omission, is_omitted in omission_flags.items() if is_omitted]
    return join_words(omissions) if omissions else None
