"""What the checklists ask, where a finished model was evaluated and nothing was developed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from truerisk.validation.study_facts import StudyFacts
from truerisk.validation.study_words import counted, measured_by

ENOUGH = 100  # rows of the rarer outcome (PROBAST, for a validation)
NOTHING = "does not apply: nothing was developed on these rows."


def _enough(facts: StudyFacts) -> str | None:
    if not facts.class_counts:
        return None
    word = "yes" if min(facts.class_counts.values()) >= ENOUGH else "no"
    return f"{word} by the rule of {ENOUGH} rows of the rarer outcome: {counted(facts)}."


def _optimism(facts: StudyFacts) -> str:
    return "does not apply: nothing was fitted to these rows, so that there is no optimism."


def _gaps(facts: StudyFacts) -> str | None:
    if facts.n_gaps is None:
        return None
    if facts.n_gaps == 0:
        return "X has no cell without a value. State which rows were left out before."
    return (
        f"{facts.n_gaps} cells without a value in {facts.n_rows_with_gaps} rows, left to the "
        "finished model. State why they are missing."
    )


def _preparation(facts: StudyFacts) -> str | None:
    if facts.n_columns is None:
        return None
    before = facts.steps[:-1]
    if not before:
        return "X went into the finished model as it was given. State what was done before."
    return (
        f"{', '.join(before)}, as they are in the finished model; nothing was fitted to these "
        "rows. State what was done before."
    )


def _use(facts: StudyFacts) -> str:
    return (
        f"All {facts.n_rows} rows served evaluation alone: a finished model was applied to them. "
        "State on which people it was developed, and that none of them are here."
    )


def _model(facts: StudyFacts) -> str:
    return f"{' → '.join(facts.steps)}, finished before; nothing was fitted or tuned here."


def _clusters(facts: StudyFacts) -> str | None:
    if facts.n_groups is None:
        return None
    return f"Each of the {facts.n_groups} groups counts as one in every interval."


def _update(facts: StudyFacts) -> str | None:
    return None if facts.updating is None else f"Not here. {facts.updating}"


ANSWERS: Mapping[tuple[str, str], Callable[[StudyFacts], str | None]] = {
    ("PROBAST", "4.1"): _enough,
    ("PROBAST", "4.4"): _gaps,
    ("PROBAST", "4.5"): lambda facts: NOTHING,
    ("PROBAST", "4.8"): _optimism,
    ("PROBAST", "4.9"): lambda facts: NOTHING,
    ("TRIPOD+AI", "4"): lambda facts: "To evaluate a finished model.",
    ("TRIPOD+AI", "7"): _preparation,
    ("TRIPOD+AI", "10"): lambda facts: f"{counted(facts)}. State how that number was chosen.",
    ("TRIPOD+AI", "11"): _gaps,
    ("TRIPOD+AI", "12a"): _use,
    ("TRIPOD+AI", "12b"): _preparation,
    ("TRIPOD+AI", "12c"): _model,
    ("TRIPOD+AI", "12d"): _clusters,
    ("TRIPOD+AI", "12e"): lambda facts: f"{measured_by(facts)}, of all rows as one test set.",
    ("TRIPOD+AI", "12f"): _update,
    ("TRIPOD+AI", "12g"): _use,
    ("TRIPOD+AI", "21"): lambda facts: f"{counted(facts)}, in evaluation alone.",
}
"""In the place of what is said of a model that is fitted here, by guideline and number."""
