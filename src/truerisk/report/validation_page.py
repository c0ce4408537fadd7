"""The page of a validation: headline, sentences, references, and how to reproduce it."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.core.formats import clean, number, percent
from truerisk.report.layout import CLOSING, Headline, Page
from truerisk.report.methods_text import Repeat, arguments
from truerisk.report.validation_parts import parts_of, rows_text
from truerisk.validation.validation import Validation


def draw_validation(document: Validation) -> Page:
    """Return the page of a validation, live or read from a file."""
    parts, checklist = tuple(parts_of(document)), document.checklist
    facts = [clean(document.risk.method, 80)]
    if document.rows["n_events"] is not None:
        facts.append(f"{document.rows['n_events']} events")
    if document.rows["n_groups"] is not None:
        facts.append(f"{document.rows['n_groups']} groups")
    values = {
        "eyebrow": "validation",
        "title": f"Validation on {rows_text(document)}",
        "facts": facts,
        "headline": list(_headline(document)),
        "conclusion": [clean(sentence, 1000) for sentence in verdict(document)],
        "parts": parts,
        "sections": (*(part.section for part in parts), *CLOSING),
        "methods": "" if checklist is None else clean(checklist.methods_text, 8000),
        "references": validated_by(document),
        "repeat": validated_again(document),
        "notes": [clean(note, 1000) for note in (*document.risk.notes, *document.notes)[:40]],
    }
    return Page("validation.html", values)


HEADLINES = {"auc": "report", "explained": "report", "slope": "", "in-the-large": "", "brier": ""}


def _headline(document: Validation) -> Iterator[Headline]:
    for name, look in HEADLINES.items():
        one = document.measure(name)
        if one is not None and one.honest is not None:
            under = "held-out rows" if one.interval is None else f"interval {one.interval}"
            yield Headline(one.title, number(one.honest, 3), under, look)
    risk = document.risk
    under = clean(risk.named_scoring, 40) + ("" if risk.interval is None else f", {risk.interval}")
    yield Headline(f"Honest {risk.scale.noun}", number(risk.value, 3), under)


HARRELL = "Harrell FE (2015). Regression Modeling Strategies. 2nd edition, Springer."
COX = (
    "Cox DR (1958). Two further applications of a model for binary regression. Biometrika "
    "45:562–565."
)
VAN_CALSTER = (
    "Van Calster B, Nieboer D, Vergouwe Y, De Cock B, Pencina MJ, Steyerberg EW (2016). A "
    "calibration hierarchy for risk models was defined: from utopia to empirical data. Journal of "
    "Clinical Epidemiology 74:167–176."
)
AUSTIN = (
    "Austin PC, Steyerberg EW (2019). The Integrated Calibration Index (ICI) and related metrics "
    "for quantifying the calibration of logistic regression models. Statistics in Medicine "
    "38:4051–4065."
)
VICKERS = (
    "Vickers AJ, Elkin EB (2006). Decision curve analysis: a novel method for evaluating "
    "prediction models. Medical Decision Making 26:565–574."
)
STEYERBERG = "Steyerberg EW (2019). Clinical Prediction Models. 2nd edition, Springer."


def verdict(document: Validation) -> list[str]:
    """Return the findings as sentences."""
    texts, calibration = [], document.calibration
    if document.finished:
        n_rows = document.rows["n_rows"]
        texts.append(f"A finished model was applied to {n_rows} rows; nothing was fitted.")
    of_event = calibration is None or calibration.event is not None
    for name, sentence in SENTENCES.items():
        one = document.measure(name)
        if one is None or one.honest is None:
            continue
        ends, judged = "", one.honest
        if one.interval is not None:
            ends = f"{percent(one.interval.confidence_level)} interval {one.interval}"
            ends = f" ({ends})"
        # The interval is around this value, not around the honest one.
        if one.of_final_model is not None:
            judged = one.of_final_model
            ends = f" on held-out rows; that of the final model is about {number(judged)}{ends}"
        own = "" if one.apparent is None else f"; on the training rows it is {number(one.apparent)}"
        calibrated = float(name == "slope")
        side = SIDES.get((name, of_event), ("", ""))[judged > calibrated]
        if one.interval is None and one.reason is not None:
            side = "; it has no interval, for the reason below the table." if side else ""
        if side and one.interval is not None and calibrated in one.interval:
            side = f"; its interval holds {calibrated:g}, the value of calibrated answers."
        texts.append(sentence.format(f"{number(one.honest)}{ends}{own}") + side)
    return texts


SENTENCES = {
    "auc": "On held-out rows the AUC is {}.",
    "explained": "On held-out rows R² is {}.",
    "slope": "The calibration slope is {}",
    "in-the-large": "Calibration in the large is {}",
    "brier": "The Brier score is {}.",
}
SIDES = {
    ("slope", True): (
        "; below 1 probabilities are too extreme.",
        "; above 1 probabilities are too timid.",
    ),
    ("in-the-large", True): (
        "; below 0 probabilities are too large.",
        "; above 0 probabilities are too small.",
    ),
    ("slope", False): (
        "; below 1 answers are too far apart.",
        "; above 1 answers are too near to each other.",
    ),
    ("in-the-large", False): (
        "; below 0 answers are too large.",
        "; above 0 answers are too small.",
    ),
}
"""Meaning of a value on either side of 1 (slope) or 0 (intercept)."""


def validated_by(document: Validation) -> list[str]:
    """Return the references of the validation."""
    cited = [STEYERBERG]
    cited += [COX, VAN_CALSTER, AUSTIN] if document.calibration is not None else []
    cited += [VICKERS] if document.net_benefit is not None else []
    return [*cited, HARRELL] if document.n_samples or document.calibration else cited


def validated_again(document: Validation) -> Repeat:
    """Return the call, and the facts that it depends on."""
    typed = {"replicates": str(document.n_samples), **document.given}
    if document.finished:
        del typed["replicates"]
    what = "model" if document.finished else "search"
    call = document.command or f"tr.validate({what}, X, y, {', '.join(arguments(typed))})"
    risk = document.risk
    facts = {"seed": str(risk.seed), "data fingerprint": risk.data_fingerprint}
    return Repeat.from_call(clean(call, 1000), {**facts, "engine": risk.engine}, risk.versions)
