"""The HTML page of a validation: headline, sentences, references, and how to reproduce it."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.report.layout import CLOSING_SECTIONS, Headline, Page
from truerisk.report.methods_text import ReproductionInfo, describe_score, format_arguments
from truerisk.report.validation_parts import build_page_parts, describe_rows
from truerisk.validation.checklists.paper_words import cited_references
from truerisk.validation.conclusion import TESTED_ROWS
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
            escape_and_truncate(sentence, 1000) for sentence in validation.conclusion.splitlines()
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
