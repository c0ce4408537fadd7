"""The HTML page of a validation: headline, sentences, references, and how to reproduce it."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.core.formats import escape_and_truncate, format_number, format_percent
from truerisk.report.layout import CLOSING_SECTIONS, Headline, Page
from truerisk.report.methods_text import ReproductionInfo, describe_score, format_arguments
from truerisk.report.validation_figures import TESTED_ROWS
from truerisk.report.validation_parts import build_page_parts, describe_rows
from truerisk.validation.checklists.paper_words import cited_references
from truerisk.validation.validation import Validation


def draw_validation_page(validation: Validation) -> Page:
    """Return the HTML page of a validation.

    The validation was either just computed or read from a file.
    """
    page_parts, checklist = tuple(build_page_parts(validation)), validation.checklist
    fact_texts = [escape_and_truncate(validation.risk.method, 80)]
    if validation.rows["n_events"] is not None:
        fact_texts.append(f"{validation.rows['n_events']} events")
    if validation.rows["n_groups"] is not None:
        fact_texts.append(f"{validation.rows['n_groups']} groups")
    values = {
        "eyebrow": "validation",
        "title": f"Validation on {describe_rows(validation)}",
        "facts": fact_texts,
        "headline": list(_headline(validation)),
        "conclusion": [
            escape_and_truncate(sentence, 1000) for sentence in describe_measures(validation)
        ],
        "parts": page_parts,
        "sections": (*(page_part.section for page_part in page_parts), *CLOSING_SECTIONS),
        "methods": "" if checklist is None else escape_and_truncate(checklist.methods_text, 8000),
        "references": validation_references(validation),
        "repeat": validation_reproduction(validation),
        "notes": [
            escape_and_truncate(note, 1000)
            for note in (*validation.risk.notes, *validation.notes)[:40]
        ],
    }
    return Page("validation.html", values)


HEADLINE_CSS_CLASSES = {
    "auc": "report",
    "explained": "report",
    "slope": "",
    "in-the-large": "",
    "brier": "",
}


def _headline(document: Validation) -> Iterator[Headline]:
    """Yield the main measures, and the honest risk unless it is one of them."""
    risk, shown = document.risk, list[tuple[float | None, str]]()
    rows_name, _ = TESTED_ROWS[document.finished]
    for name, css_class in HEADLINE_CSS_CLASSES.items():
        measured = document.measure(name)
        if measured is not None and measured.honest is not None:
            # The interval belongs to the final model, if that was measured.
            has_interval = measured.interval is not None and measured.of_final_model is None
            subtitle = f"interval {measured.interval}" if has_interval else rows_name
            shown.append((measured.honest, str(measured.interval)))
            yield Headline(measured.title, format_number(measured.honest, 3), subtitle, css_class)
    if (risk.value, str(risk.interval)) not in shown:
        subtitle = rows_name if risk.interval is None else f"interval {risk.interval}"
        yield Headline(describe_score(risk.named_scoring), format_number(risk.value, 3), subtitle)


VAN_CALSTER_REFERENCE = (
    "Van Calster B, Nieboer D, Vergouwe Y, De Cock B, Pencina MJ, Steyerberg EW (2016). A "
    "calibration hierarchy for risk models was defined: from utopia to empirical data. Journal of "
    "Clinical Epidemiology 74:167–176."
)
AUSTIN_REFERENCE = (
    "Austin PC, Steyerberg EW (2019). The Integrated Calibration Index (ICI) and related metrics "
    "for quantifying the calibration of logistic regression models. Statistics in Medicine "
    "38:4051–4065."
)
STEYERBERG_REFERENCE = "Steyerberg EW (2019). Clinical Prediction Models. 2nd edition, Springer."


def describe_measures(document: Validation) -> list[str]:
    """Describe the measures of a validation in sentences: AUC, R², calibration and Brier score."""
    verdict_sentences, calibration = [], document.calibration
    rows_name, _ = TESTED_ROWS[document.finished]
    if document.finished:
        n_rows = document.rows["n_rows"]
        verdict_sentences.append(
            f"A finished model was applied to {n_rows} rows; nothing was fitted."
        )
    has_event = calibration is None or calibration.event is not None
    for name, sentence in SENTENCE_BY_MEASURE.items():
        measured = document.measure(name)
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
        ideal_value = float(name == "slope")
        meaning_text = CALIBRATION_MEANINGS.get((name, has_event), ("", ""))[
            judged_value > ideal_value
        ]
        if measured.interval is None and measured.reason is not None:
            meaning_text = (
                "; it has no interval, for the reason below the table." if meaning_text else ""
            )
        if meaning_text and measured.interval is not None and ideal_value in measured.interval:
            meaning_text = (
                f"; its interval holds {ideal_value:g}, the value of calibrated predictions."
            )
        verdict_sentences.append(
            sentence.format(
                f"{format_number(measured.honest)}{interval_text}{apparent_text}", rows=rows_name
            )
            + meaning_text
        )
    return verdict_sentences


SENTENCE_BY_MEASURE = {
    "auc": "On {rows} the AUC is {}.",
    "explained": "On {rows} R² is {}.",
    "slope": "The calibration slope is {}",
    "in-the-large": "Calibration in the large is {}",
    "brier": "The Brier score is {}.",
}
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
}
"""Meaning of a calibration slope below or above 1, and of an intercept below or above 0."""


def validation_references(validation: Validation) -> list[str]:
    """Return the references that the paragraph cites, and those of measures that it does not."""
    checklist = validation.checklist
    references = [] if checklist is None else cited_references(checklist.methods_text)
    references.append(STEYERBERG_REFERENCE)
    if validation.calibration is not None:
        references += [VAN_CALSTER_REFERENCE, AUSTIN_REFERENCE]
    return references


def validation_reproduction(validation: Validation) -> ReproductionInfo:
    """Return the call that reproduces a validation, and the facts on which its result depends."""
    argument_texts = {"replicates": str(validation.n_samples), **validation.given}
    if validation.finished:
        del argument_texts["replicates"]
    first_argument = "model" if validation.finished else "search"
    call = (
        validation.command
        or f"tr.validate({first_argument}, X, y, {', '.join(format_arguments(argument_texts))})"
    )
    risk = validation.risk
    call_facts = {"seed": str(risk.seed), "data fingerprint": risk.data_fingerprint}
    return ReproductionInfo.from_call(
        escape_and_truncate(call, 1000), {**call_facts, "engine": risk.engine}, risk.versions
    )
