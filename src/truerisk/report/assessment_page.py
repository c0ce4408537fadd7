"""The page: one HTML file that needs nothing else, drawn from the JSON of an assessment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truerisk.core.interval import Interval
from truerisk.core.present import (
    SELECTED_SCORE,
    WHOLE_SEARCH,
    clean,
    honest_risk,
    may_be_best,
    number,
    tested_by,
    yes_or_no,
)
from truerisk.report.boxes import draw_boxes
from truerisk.report.calibration import draw_calibration
from truerisk.report.curves import draw_curves
from truerisk.report.document import Document, LearnerRecord, read_document
from truerisk.report.estimates import Estimate
from truerisk.report.figure import FigureTable
from truerisk.report.ladder import draw_ladder, interval_text, signed_text
from truerisk.report.layout import Headline, Section, rendered, sentences
from truerisk.report.learning import draw_learning
from truerisk.report.methods_text import described, references, repeat
from truerisk.report.over_time import draw_over_time
from truerisk.report.rates import Rates
from truerisk.report.stability import draw_stability
from truerisk.report.validation_parts import PagePart, parts_of, rows_text
from truerisk.report.validation_text import validated_by
from truerisk.validation.measures import Measured

__all__ = ["draw_page"]

MOST_LEARNERS = 12  # whose risk curves are drawn
RATE_NAMES = (
    ("sensitivity", "sensitivity (recall)"),
    ("specificity", "specificity"),
    ("precision", "precision"),
    ("npv", "negative predictive value"),
    ("error", "share of wrong calls"),
    ("cost", "expected cost per row"),
)


def draw_page(content: Any) -> str:
    """The page of an assessment's plain values (`Assessment.to_dict`)."""
    document = read_document(content)
    rates = None if document.roc is None else Rates(document.roc, _areas(document))
    values = {
        "eyebrow": "assessment",
        "title": _title(document),
        "facts": _facts(document),
        "headline": _headline(document),
        "conclusion": sentences(document.conclusion),
        "findings": document.findings,
        "learners": _learners(document),
        "learners_caption": _caption(document),
        "scorecard": _scorecard(document),
        "legend": _legend(document),
        "differences": _differences(document),
        "sections": tuple(_sections(document, rates)),
        "validation": _validation(document),
        "rates": rates,
        "rates_data": None if rates is None else rates.data(),
        "now": {} if rates is None else rates.numbers(rates.start),
        "rate_names": RATE_NAMES,
        "methods": described(document),
        "references": _references(document),
        "repeat": repeat(document),
        "described": _data(document),
        "notes": _notes(document),
    }
    return rendered("page.html", values)


# ---------------------------------------------------------------- the top


def _title(document: Document) -> str:
    source = clean(document.source, 80)
    n = len(document.learners)
    learners = f"{n} {'tuned ' if document.tuned else ''}learner{'s' if n > 1 else ''}"
    return f"{source}: {learners} assessed" if source else f"Assessment of {learners}"


def _caption(document: Document) -> str:
    scale, loss = document.scale, clean(document.loss, 40)
    what = f"Risks in {loss} loss" if scale.perfect is None else f"Scores, {loss}"
    return f"{what}, {scale.better} is better; the best learner first"


def _facts(document: Document) -> list[str]:
    facts = [f"{document.n_rows} rows"]
    if document.columns:
        facts.append(f"{len(document.columns)} columns")
    if document.classes:
        facts.append(f"{len(document.classes)} classes")
    name = clean(document.loss, 40)
    facts.append(name if document.scale.perfect is not None else f"{name} loss")
    if document.tuned:
        facts.append(f"tuned by {clean(document.tuned_by, 40)}")
    facts.append(f"tested by {tested_by(document.tested_by)}")
    return facts


def _headline(document: Document) -> list[Headline]:
    best, report, noun = document.best, document.report, document.scale.noun
    said = [] if document.scale.perfect is None else [clean(document.loss, 40)]
    said.append(_sure(report))
    if document.choice is not None:
        said.append(f"{noun} of choosing among {len(document.learners)} learners")
    shown = [
        Headline(f"Report this {noun}", number(report.value), "; ".join(said), "report"),
        Headline("Best learner", clean(best.name, 24), best.chosen),
        Headline(f"Its honest {noun}", number(best.honest.value), _sure(best.honest)),
    ]
    if best.tuned:
        shown.append(Headline("What tuning said", number(best.selected_value), _beside(best)))
    if document.baseline is not None:
        shown.append(
            Headline("Without learning", number(document.baseline), document.baseline_rule)
        )
    return shown


def _beside(best: LearnerRecord) -> str:
    """What is said of the selected risk."""
    if best.optimism is not None:
        return f"optimism {signed_text(best.optimism, best.honest.value)}"
    if best.selected is not None:
        return "of another loss"
    return clean(best.no_selected, 100) or "not known"


def _sure(estimate: Estimate | Measured) -> str:
    interval = estimate.interval
    if interval is None:
        return "no interval"
    level = f"{100 * interval.confidence_level:g} %"
    return f"{level} interval {number(interval.low)} to {number(interval.high)}"


# ---------------------------------------------------------------- tables


def _learners(document: Document) -> FigureTable:
    rows = [
        [
            one.shown,
            one.chosen,
            number(one.selected_value),
            number(one.honest.value),
            interval_text(one.honest),
            yes_or_no(None if document.best_set is None else one.name in document.best_set),
            signed_text(one.optimism, one.honest.value),
            f"{one.agreement:.0%}" if len(one.curve.settings) > 1 else "–",
            str(one.n_fits),
        ]
        for one in document.learners
    ]
    head = ("learner", "chosen setting", "selected", "honest", "interval", "best?", "optimism")
    return FigureTable.of((*head, "agreement", "fits"), rows)


def _scorecard(document: Document) -> FigureTable | None:
    """Further scores of every learner on their own scale; None where none was asked for."""
    names = list(dict.fromkeys(name for one in document.learners for name in one.honest.scores))
    rows = [row for name in names for row in _of_score(document, name)]
    head = ("score", "better is", "learner", "selected", "honest", "interval")
    return FigureTable.of(head, rows) if rows else None


def _of_score(document: Document, name: str) -> Iterator[list[str]]:
    """The lines of a score, the choice among all learners last."""
    every = [
        (one.shown, one.selected if one.tuned else None, one.honest) for one in document.learners
    ]
    if document.choice is not None:
        every.append((WHOLE_SEARCH, None, document.choice))
    for learner, selected, honest in every:
        if name not in honest.scores:
            continue
        own = honest.scores[name]
        chosen = None if selected is None else selected.scores.get(name)
        yield [
            clean(name, 40),
            own.scale.better,
            learner,
            number(None if chosen is None else chosen.value),
            number(own.value),
            str(own.interval or "none"),
        ]


def _legend(document: Document) -> list[str]:
    named = {clean(o.honest.interval.method, 40) for o in document.learners if o.honest.interval}
    level = f"{100 * document.level:g} %"
    how = f"; {level} interval: {', '.join(sorted(named))}" if named else ""
    tuning = f"{clean(document.tuned_by, 40)} on all rows, rule {clean(document.rule, 40)}"
    testing = f"{tested_by(document.tested_by)}{how}"
    scale = document.scale
    of = honest_risk(scale.noun, document.tested_by, tuned=document.tuned)
    honest = f"honest: {of} ({testing})"
    if not document.tuned:
        best = [] if document.best_set is None else [may_be_best(level)]
        return ["selected: nothing, since every learner has one setting", honest, *best]
    return [
        f"{scale.selected} ({tuning})",
        *([SELECTED_SCORE] if document.best.honest.scores else []),
        honest,
        *([] if document.best_set is None else [may_be_best(level)]),
        f"{scale.optimism}; agreement: outer splits that chose the same setting",
    ]


def _differences(document: Document) -> FigureTable | None:
    if not document.differences:
        return None
    best, scale = document.best.honest.value, document.scale
    known = [one.rope for one in document.differences if one.rope is not None]
    rope = f" by more than {known[0]:g}" if known else ""
    rows = [
        [
            clean(one.learner, 60),
            signed_text(scale.gap(one.mean), best),
            _between(scale.gaps(one.interval), best),
            "–" if one.probability is None else f"{one.probability:.3f}",
        ]
        for one in document.differences
    ]
    likely = f"probability that it is worse{rope}"
    what = f"{scale.short(document.loss)} minus that of the best"
    return FigureTable.of(("learner", what, "interval", likely), rows)


def _between(interval: Interval | None, best: float | None) -> str:
    """The ends of the interval of a difference."""
    if interval is None:
        return "none"
    return f"{signed_text(interval.low, best)} to {signed_text(interval.high, best)}"


# ---------------------------------------------------------------- sections


def _sections(document: Document, rates: Rates | None) -> Iterator[Section]:
    yield Section("learners", "The learners")
    ladder = draw_ladder(document)
    if ladder is not None:
        lead = "What the same learners seem to be worth, from the most flattering number on."
        yield Section("optimism", "Optimism", lead, (ladder,))
    drawn_of, noun = document.learners[:MOST_LEARNERS], document.scale.noun
    curves = [f for i, one in enumerate(drawn_of) for f in draw_curves(one, document, i)]
    if curves:
        lead = f"The {noun} of every setting on all rows; the best of many flatters."
        if len(document.learners) > MOST_LEARNERS:
            lead += f" Drawn are the {MOST_LEARNERS} best learners; the JSON has them all."
        yield Section("curves", f"{noun.capitalize()} curves", lead, tuple(curves))
    learned = [draw_learning(one, document, i) for i, one in enumerate(drawn_of)]
    if any(learned):
        lead = "What tuning on fewer rows costs, and what more rows should give. "
        lead += "Each point is tuned anew on so many rows, and tested on the same others; inner "
        lead += "folds are drawn for it, so the last one is not quite the honest risk of tuning."
        drawn = [figure for figure in learned if figure is not None]
        yield Section("learning", "Learning curves", lead, tuple(drawn))
    courses = [draw_over_time(one, document, i) for i, one in enumerate(drawn_of)]
    if any(courses):
        what = "losses" if document.scale.perfect is None else "scores"
        lead = f"The {what} of rows that were tested, in stretches of about equally many times."
        drawn = [figure for figure in courses if figure is not None]
        yield Section("over-time", f"{noun.capitalize()} over time", lead, tuple(drawn))
    drawn = [f for f in (draw_boxes(document), draw_stability(document)) if f is not None]
    if drawn:
        lead = "How much depends on the rows that happened to be there."
        yield Section("stability", "Stability", lead, tuple(drawn))
    calibration = draw_calibration(document)
    made = "tuned and fitted" if document.best.tuned else "fitted"
    if rates is not None:
        lead = f"Of {document.best.shown}, {made} without the rows it scores; positive: "
        lead += f"{rates.positive}."
        pair = (rates.draw_roc(), rates.draw_precision_recall())
        yield Section("rates", "Ranking and thresholds", lead, pair)
    if calibration is not None:
        lead = f"Of {document.best.shown}, {made} without the rows it rates."
        yield Section("calibration", "Calibration", lead, (calibration,))
    if document.validation is not None:
        lead = f"What a reviewer asks of {document.best.shown}, {made} without the rows it rates; "
        lead += f"on {rows_text(document.validation)}."
        yield Section("validation", "Validation", lead)
    yield Section("methods", "What was done")
    yield Section("repeat", "How to repeat it")


def _areas(document: Document) -> dict[str, str]:
    """What the page says of the ranks of the best learner: one number for each, the honest one."""
    every = {word: document.of_ranks(word) for word in ("auc", "average-precision")}
    return {
        word: f"{number(one.value)}, {_sure(one)}"
        for word, one in every.items()
        if one is not None and one.value is not None
    }


def _validation(document: Document) -> tuple[PagePart, ...]:
    if document.validation is None:
        return ()
    return tuple(part.inside("validation") for part in parts_of(document.validation))


def _references(document: Document) -> list[str]:
    papers = references(document)
    if document.validation is not None:
        papers = [*papers, *validated_by(document.validation)]
    return list(dict.fromkeys(papers))


def _data(document: Document) -> list[tuple[str, str]]:
    facts = []
    if document.columns:
        facts.append(("columns", _some(document.columns)))
    if document.classes:
        facts.append(("classes", _some(document.classes)))
    return facts


def _some(names: tuple[str, ...], most: int = 20) -> str:
    listed = ", ".join(clean(name, 60) for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def _notes(document: Document) -> list[str]:
    notes = [
        f"{clean(o.name, 60)}: {clean(n, 400)}" for o in document.learners for n in o.honest.notes
    ]
    if document.choice is not None:
        notes += [clean(note, 400) for note in document.choice.notes]
    notes += [
        f"{one.shown}: {clean(one.no_selected, 200)}"
        for one in document.learners
        if one.no_selected
    ]
    notes += [
        f"{clean(one.learner, 60)}, beside the best: {clean(note, 400)}"
        for one in document.differences
        for note in one.notes
    ]
    notes += [
        f"{one.shown}: selected is {clean(s.method, 100)}, as {s.scale.of(s.loss)}"
        for one in document.learners
        if (s := one.selected) is not None and s.method != one.curve.method  # a claim of its own
    ]
    notes += [
        f"{one.shown}: no learning curve: {clean(one.no_learned, 300)}"
        for one in document.learners
        if one.no_learned
    ]
    notes += [
        f"{one.shown}: no risk over time: {clean(one.no_course, 300)}"
        for one in document.learners
        if one.no_course
    ]
    if document.no_roc and document.task == "classification":
        notes.append(f"no ROC curve: {clean(document.no_roc, 200)}")
    if document.no_validation:
        notes.append(f"no validation: {clean(document.no_validation, 300)}")
    if document.validation is not None:
        notes += [f"validation: {clean(note, 400)}" for note in document.validation.notes]
    if document.missing:
        listed = ", ".join(clean(name, 60) for name in document.missing)
        notes.append(f"not assessed, because interrupted: {listed}")
    return list(dict.fromkeys(notes))[:40]
