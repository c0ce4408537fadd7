"""Turn the facts of a study into sentences, and fill in the checklists with them.

The sentences are in TOML files in this folder; study_words.toml says how they are chosen.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from truerisk.core.formats import listed, number, rows_counted
from truerisk.intervals import as_form, names
from truerisk.validation.checklists.study_facts import (
    CURVE,
    GIVEN,
    SLOPE,
    Rated,
    StudyFacts,
    StudySoftware,
)
from truerisk.validation.measures import rounded
from truerisk.validation.prediction_stability import OF_SAMPLES

ENOUGH, FEW = 20, 10  # events per candidate predictor, for the case that no R² is known
LIES = ("later", "below", "among", "apart", "near")  # relations of tested rows to training rows


@cache
def read_toml(name: str) -> dict[str, Any]:
    """Read one TOML file of this folder."""
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))


class Sentences:
    """Sentences about one study, with its facts and words derived from them."""

    def __init__(self, facts: StudyFacts, *guidelines: str) -> None:
        self.facts = known_facts(facts)
        self.words: dict[str, Any] = {}
        for name in ("study_words", *guidelines):
            self.words |= read_toml(name)["words"]

    def fill(self, choices: Any) -> str | None:
        """Return the first of the sentences that fits, filled in, or None if none does."""
        for choice in [choices] if isinstance(choices, str) else choices:
            one = {"say": choice} if isinstance(choice, str) else choice
            wanted = one["when"].split(", ") if "when" in one else ()
            if all(self._holds(fact) for fact in wanted):
                fields = [field for _, field, _, _ in Formatter().parse(one["say"]) if field]
                known = {field: self.term(field) for field in fields}
                if None not in known.values():
                    return str(one["say"].format(**known))
        return None

    def term(self, name: str) -> Any:
        """Return a fact, or the text for a word; None if it is not known."""
        return self.fill(self.words[name]) if name in self.words else self.facts[name]

    def paragraph(self) -> str:
        """Describe participants, missing data, model, validation, performance and omissions."""
        text = map(self.term, read_toml("study_words")["paragraph"])
        return " ".join(filter(None, text))

    def _holds(self, fact: str) -> bool:
        """Return True if a fact holds, or if the fact after "not" does not hold."""
        name = fact.removeprefix("not ")
        return bool(self.facts[name]) == (name == fact)


def known_facts(facts: StudyFacts) -> dict[str, Any]:
    """Return everything that a sentence can mention or depend on, by name; None if unknown."""
    rows, model, testing, results = facts.rows, facts.model, facts.testing, facts.results
    counts, before = rows.class_counts, model.steps[:-1]
    rarest = min(counts.values(), default=rows.n_rows)
    per_column = rarest / rows.n_columns if rows.n_columns else None
    n_tested = rows.n_rows if testing.n_tested is None else testing.n_tested
    line = {one.name: one.interval for one in results.measures if one.part == "calibration"}
    with_intervals = [name for name, has_intervals in results.by_level.items() if has_intervals]
    by_rule = None
    if per_column is not None:
        by_rule = "no" if per_column < FEW else "probably" if per_column < ENOUGH else "yes"
    rests_on = [] if testing.finished else cautions({one.interval for one in results.measures})
    return {
        **vars(rows),
        **vars(model),
        **vars(testing),
        **vars(results),
        # rows
        "rows_counted": rows_counted(rows.n_rows, counts, rows.n_groups),
        "numbers": not counts,
        "in_time": rows.n_lost is not None,
        "n_events": None if rows.event is None else counts.get(rows.event),
        "rarest_share": f"{rarest / sum(counts.values()):.1%}" if counts else None,
        "per_column": None if per_column is None else number(per_column, 1),
        "no_gaps": rows.n_gaps == 0,
        "few": FEW,
        "enough": ENOUGH,
        "enough_rows": by_rule and _verdict(rows.n_rows, results.n_needed),
        "enough_by_rule": by_rule,
        "enough_to_test": _verdict(n_tested, results.n_to_validate),
        # model
        "finished": testing.finished,
        "given": model.steps == GIVEN,
        "learner": model.steps[-1],
        "chain": " → ".join(model.steps),
        "steps_listed": listed(model.steps),
        "before": ", ".join(before) or None,
        "before_listed": listed(before) if before else None,
        "several_settings": model.n_settings > 1,
        "tuned": model.n_settings > 1 or model.tunes_inside,
        "unbalanced": model.rebalanced == (),
        "rebalanced": listed(model.rebalanced) if model.rebalanced else None,
        "recalibrated": model.rebalanced and model.recalibrated,
        "fitted_parts": listed(model.fitted_parts) if model.fitted_parts else None,
        "makes_features": model.n_features not in (None, rows.n_columns),
        "coefficients": "; ".join(f"{name}: {c:.6g}" for name, c in model.coefficients.items())
        or None,
        "gives": read_toml("study_words")["responses"][model.response],
        "software": software(facts.software),
        # testing
        **{kind: testing.tested_on == kind for kind in LIES},
        "tuning_splits": splits(testing.chosen_by),
        "test_splits": splits(testing.tested_by),
        "nested_splits": splits(testing.tested_by, tuned=True),
        "n_tested": n_tested,
        "n_untested": rows.n_rows - n_tested,
        "tested_counted": rows_counted(n_tested, testing.tested_counts),
        # results
        "moved": None if results.stability is None else rounded(results.stability.mape),
        "of_samples": results.stability and results.stability.source == OF_SAMPLES,
        "level": f"{100 * results.confidence_level:.15g}%",
        "values": "; ".join(map(_rating_sentence, results.measures)),
        "measured_by": measured_by(results.measures),
        "first_measure": next((one.name for one in results.measures), None),
        "cautions": " ".join(rests_on) or None,
        "calibrated": bool(line),
        "has_slope": SLOPE in line,
        "has_curve": CURVE in line,
        "slope_has_interval": line.get(SLOPE),
        "slope_by_folds": line.get(SLOPE) == "sandwich-pairs",
        "subgroups": ", ".join(results.subgroups) or None,
        "too_small": ", ".join(results.too_small) or None,
        "levels_have_intervals": with_intervals,
        "all_levels_have_intervals": len(with_intervals) == len(results.by_level),
        "levels_with_intervals": listed(with_intervals) if with_intervals else None,
        "all_shrunken": results.shrunken and results.shrunken == results.subgroups,
        "shrunken": listed(results.shrunken) if results.shrunken else None,
        "undone": _undone(facts, calibrated=bool(line)),
    }


def _verdict(n: int, needed: int | None) -> str | None:
    """Return whether this number of rows is sufficient; None if the required number is unknown."""
    return None if needed is None else "yes" if n >= needed else "no"


def cautions(words: Collection[str | None]) -> list[str]:
    """Return a sentence for each unpublished assumption of the intervals with these names."""
    those: dict[str, list[str]] = {}
    for name in names():
        if {name, f"{name}-grouped"} & {*words}:
            those.setdefault(as_form(name).caution, []).append(name)
    return [f"Intervals {listed(each)} {what}." for what, each in those.items() if what]


def software(used: StudySoftware) -> str:
    """Name the packages with their versions and publications, and the seed."""
    known: Mapping[str, str] = read_toml("study_words")["software"]
    each = [known.get(n, f"{n} {{}}").format(version) for n, version in used.versions.items()]
    return f"{listed(each)} (seed {used.seed})" if each else f"seed {used.seed}"


def splits(name: str, *, tuned: bool = False) -> str:
    """Describe a method, given by its name, for readers who know cross-validation.

    >>> splits("pairs (5-fold)", tuned=True)
    'nested cross-validation on one set of folds (5-fold)'
    >>> splits("5-fold"), splits("forward-5")
    ('5-fold cross-validation', 'forward-5')
    """
    kind, _, folds = name.partition(" (")
    if kind == "pairs" and tuned:
        return f"nested cross-validation on one set of folds ({folds}"
    if kind == "nested" and tuned:
        return f"nested cross-validation ({folds}"
    # Nothing was tuned, so that there are only the splits that tested.
    if kind in ("pairs", "nested"):
        name = folds.removesuffix(")").partition(", inner ")[0]
    return f"{name} cross-validation" if name.endswith("-fold") else name


def _rating_sentence(one: Rated) -> str:
    """Describe a measure with its value, interval and the interval's name; a curve by its name."""
    *words, last = one.name.split()
    name = " ".join([*words, one.part, last]) if one.part == "calibration" else one.name
    band = "no interval" if one.interval is None else one.interval
    if one.value is None:
        return f"{name} as a figure ({band})"
    ends = one.ends or ()
    if one.ends is not None:
        low, high = (rounded(end, one.value, *ends) for end in ends)
        band = f"{low} to {high}, {one.interval}"
    value, corrected = rounded(one.value, *ends), ""
    if one.corrected is not None:
        corrected = f"corrected for optimism {rounded(one.corrected, one.value, *ends)}"
    if one.of_final_model is None:
        return f"{name} {value} ({'; '.join(filter(None, (band, corrected)))})"
    final = rounded(one.of_final_model, one.value, *ends)
    text = f"{name} {value}, of the final model {final} ({band})"
    return f"{text}, {corrected}" if corrected else text


def measured_by(measures: Collection[Rated]) -> str:
    """List the measures, grouped by part."""
    parts: dict[str, list[str]] = {}
    for one in measures:
        parts.setdefault(one.part or one.name, []).append(one.name)
    return ", ".join(
        name if names == [name] else f"{name} ({', '.join(names)})" for name, names in parts.items()
    )


def _undone(facts: StudyFacts, *, calibrated: bool) -> str | None:
    """List what the validation leaves out, or return None."""
    fitted, results = not facts.testing.finished, facts.results
    undone = {
        "validation in other people than these": fitted,
        "calibration": not calibrated,
        "a comparison of subgroups": not results.subgroups,
        "a bootstrap estimate of optimism": fitted and not facts.testing.corrected,
    }
    missing = [what for what, lacks in undone.items() if lacks]
    return listed(missing) if missing else None
