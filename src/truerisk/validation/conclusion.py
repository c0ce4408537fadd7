"""Describe the measures of a validation in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from truerisk.core.formats import format_number, format_percent
from truerisk.validation.measures import Measured

TESTED_ROWS = {False: ("held-out rows", "held out"), True: ("new rows", "new rows")}
"""Names of the tested rows in legends and in tables, by whether the model was finished."""


def describe_measures(
    measures: Mapping[str, Measured],
    *,
    n_finished_rows: int | None,
    has_event: bool,
    auc_of: str = "",
) -> list[str]:
    """Describe the main measures of a validation in sentences: ranking, calibration and errors.

    `n_finished_rows` is the number of rows of a finished model, and None for any other. `auc_of`
    says which event the AUC ranks, if it ends at a horizon.
    """
    verdict_sentences = []
    rows_name, _ = TESTED_ROWS[n_finished_rows is not None]
    if n_finished_rows is not None:
        verdict_sentences.append(
            f"A finished model was applied to {n_finished_rows} rows; nothing was fitted."
        )
    for name, sentence in SENTENCE_BY_MEASURE.items():
        measured = measures.get(name)
        if measured is None or measured.honest is None:
            continue
        interval_text, judged_value = "", measured.honest
        if measured.interval is not None:
            interval_text = (
                f"{format_percent(measured.interval.confidence_level)} interval {measured.interval}"
            )
            interval_text = f" ({interval_text})"
        # The interval belongs to the value of the final model, if it was measured.
        # It is then no interval of the honest value.
        if measured.of_final_model is not None:
            judged_value = measured.of_final_model
            interval_text = (
                f" on held-out rows; that of the final model is about "
                f"{format_number(judged_value)}{interval_text}"
            )
        apparent_text = (
            ""
            if measured.apparent is None
            else f"; on the training rows it is {format_number(measured.apparent)}"
        )
        ideal_value = float(name in ("slope", "cox-slope"))
        meaning_text = CALIBRATION_MEANINGS.get((name, has_event), ("", ""))[
            judged_value > ideal_value
        ]
        if measured.interval is None and measured.reason is not None:
            meaning_text = (
                "; it has no interval, for the reason below the table." if meaning_text else ""
            )
        if meaning_text and measured.interval is not None and ideal_value in measured.interval:
            meaning_text = (
                f"; its interval contains {ideal_value:g}, the value of calibrated predictions, so "
                "no miscalibration is shown."
            )
        verdict_sentences.append(
            sentence.format(
                f"{format_number(measured.honest)}{interval_text}{apparent_text}",
                rows=rows_name,
                auc_of=auc_of,
            )
            + meaning_text
        )
    return verdict_sentences


SENTENCE_BY_MEASURE = {
    "auc": "On {rows} the AUC{auc_of} is {}.",
    "concordance": "On {rows} Harrell's C is {}.",
    "explained": "On {rows} R² is {}.",
    "slope": "The calibration slope is {}",
    "in-the-large": "Calibration in the large is {}",
    "cox-slope": "The Cox slope is {}",
    "brier": "The Brier score is {}.",
}
_OF_COX_SLOPE = "; below 1 risks are too extreme.", "; above 1 risks are too timid."
CALIBRATION_MEANINGS = {
    ("slope", True): (
        "; below 1 probabilities are too extreme.",
        "; above 1 probabilities are too timid.",
    ),
    ("in-the-large", True): (
        "; below 0 probabilities are too large.",
        "; above 0 probabilities are too small.",
    ),
    ("slope", False): (
        "; below 1 predictions are too far apart.",
        "; above 1 predictions are too near to each other.",
    ),
    ("in-the-large", False): (
        "; below 0 predictions are too large.",
        "; above 0 predictions are too small.",
    ),
    ("cox-slope", True): _OF_COX_SLOPE,
    ("cox-slope", False): _OF_COX_SLOPE,
}
"""Meaning of a calibration slope below or above 1, and of an intercept below or above 0."""
