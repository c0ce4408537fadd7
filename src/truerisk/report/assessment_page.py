"""The page of an assessment: one self-contained HTML file, drawn from its JSON."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.assessment.assessment import Assessment, best_set_legend
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import clean, first_few, number, percent, rows_counted, signed, yes_or_no
from truerisk.report.curves import draw_curves
from truerisk.report.figure import FigureTable, known
from truerisk.report.ladder import (
    draw_boxes,
    draw_ladder,
    draw_stability,
    value_of,
)
from truerisk.report.layout import CLOSING, Headline, Page, Section, sentences
from truerisk.report.learning import draw_learning, draw_over_time
from truerisk.report.methods_text import described, honest_rank, level_and_ends, references, repeat
from truerisk.report.rates import Rates, draw_calibration
from truerisk.report.validation_page import validated_by
from truerisk.report.validation_parts import PagePart, parts_of, rows_text
from truerisk.results.interval import Interval
from truerisk.results.sentences import (
    SELECTED_SCORE,
    honest_risk,
    setting_text,
    tested_by,
)

MOST_LEARNERS = 12  # maximum number of learners whose risk curves are drawn
MOST_NAMED = 20  # maximum number of columns, and of classes
RATE_NAMES = (
    ("sensitivity", "sensitivity (recall)"),
    ("specificity", "specificity"),
    ("precision", "precision"),
    ("npv", "negative predictive value"),
    ("error", "share of wrong calls"),
    ("cost", "expected cost per row"),
)


def draw_page(document: Assessment) -> Page:
    """Return the page of an assessment, live or read from its JSON."""
    rates = None if document.roc is None else Rates(document.roc, _areas(document))
    source = clean(document.source, 80)
    n = len(document.learners)
    learners = f"{n} {'tuned ' if document.tuned else ''}learner{'s' if n > 1 else ''}"
    scale, loss = document.scale, clean(document.named_scoring, 40)
    what = f"Risks in {loss} loss" if scale.perfect is None else f"Scores, {loss}"
    cited, parts = references(document), list[PagePart]()
    if document.validation is not None:
        cited += validated_by(document.validation)
        parts += parts_of(document.validation)
    named = {"columns": document.columns, "classes": document.classes}
    values = {
        "eyebrow": "assessment",
        "title": f"{source}: {learners} assessed" if source else f"Assessment of {learners}",
        "facts": _facts(document),
        "headline": _headline(document),
        "conclusion": sentences(document.conclusion),
        "findings": document.findings,
        "learners": _learners(document),
        "learners_caption": f"{what}, {scale.better} is better; the best learner first",
        "scorecard": _scorecard(document),
        "legend": _legend(document),
        "differences": _differences(document),
        "sections": tuple(_sections(document, rates)),
        "validation": tuple(part.inside("validation") for part in parts),
        "rates": rates,
        "rates_data": None if rates is None else rates.data(),
        "now": {} if rates is None else rates.numbers(rates.start),
        "rate_names": RATE_NAMES,
        "methods": described(document),
        "references": list(dict.fromkeys(cited)),
        "repeat": repeat(document),
        "described": [
            (what, first_few([clean(name, 60) for name in names], MOST_NAMED))
            for what, names in named.items()
            if names
        ],
        "notes": _notes(document),
    }
    return Page("page.html", values)


# ---------------------------------------------------------------- the top


MOST_CLASSES = 4  # maximum number of classes whose rows are counted in one line


def _facts(document: Assessment) -> list[str]:
    sizes = dict(zip(document.classes, document.class_sizes, strict=False))
    few = sizes if len(sizes) <= MOST_CLASSES else {}
    facts = [rows_counted(document.n_rows, few)]
    if document.columns:
        facts.append(f"{len(document.columns)} columns")
    if document.classes and not few:
        facts.append(f"{len(document.classes)} classes")
    name = clean(document.named_scoring, 40)
    facts.append(name if document.scale.perfect is not None else f"{name} loss")
    if document.tuned:
        facts.append(f"tuned by {clean(document.tuned_by, 40)}")
    facts.append(f"tested by {tested_by(document.tested_by)}")
    return facts


def _headline(document: Assessment) -> list[Headline]:
    best, report, noun = document.best_learner, document.report, document.scale.noun
    honest = best.risk
    what = [] if document.scale.perfect is None else [clean(document.named_scoring, 40)]
    what.append(level_and_ends(report.interval))
    if document.choice is not None:
        what.append(f"{noun} of choosing among {len(document.learners)} learners")
    shown = [
        Headline(f"Report this {noun}", number(report.value), "; ".join(what), "report"),
        Headline("Best learner", clean(document.best, 24), setting_text(best.setting)),
        Headline(f"Its honest {noun}", number(honest.value), level_and_ends(honest.interval)),
    ]
    if best.tuned:
        score = number(value_of(best.selected))
        shown.append(Headline("Measured in tuning", score, _describe_selected_risk(best)))
    if document.baseline is not None:
        baseline, rule = number(document.baseline), document.baseline_rule or ""
        shown.append(Headline("Without learning", baseline, rule))
    return shown


def _describe_selected_risk(best: TunedLearner) -> str:
    """Return the text next to the selected risk."""
    if best.optimism is not None:
        return f"optimism {signed(best.optimism, best.risk.value)}"
    if best.selected is not None:
        return "of another loss"
    return clean(best.no_selected or "", 100) or "not known"


# ---------------------------------------------------------------- tables


def _learners(document: Assessment) -> FigureTable:
    best = document.usual_best_set
    rows = [
        [
            clean(name, 60),
            setting_text(each.setting),
            number(value_of(each.selected)),
            number(each.risk.value),
            str(each.risk.interval or "none"),
            yes_or_no(None if best is None else name in best),
            signed(each.optimism, each.risk.value),
            f"{each.stability.agreement:.0%}" if len(each.curve) > 1 else "–",
            str(each.n_fits),
        ]
        for name, each in document.ranked_learners.items()
    ]
    head = ("learner", "chosen setting", "selected", "honest", "interval", "best?", "optimism")
    return FigureTable.from_rows((*head, "agreement", "fits"), rows)


def _scorecard(document: Assessment) -> FigureTable | None:
    """Return further scores of every learner on their own scale; None if none were requested."""
    rows = [
        [
            f"{clean(name, 40)} ({honest.scale.better} is better)",
            clean(learner, 60),
            number(value_of(selected)),
            number(honest.value),
            str(honest.interval or "none"),
        ]
        for name, learner, selected, honest in document.reported_scores()
        if name != document.named_scoring
    ]
    head = ("score", "learner", "selected", "honest", "interval")
    return FigureTable.from_rows(head, rows) if rows else None


def _legend(document: Assessment) -> list[str]:
    named = {clean(o.interval.method, 40) for o in document.risks.values() if o.interval}
    level = percent(document.confidence_level)
    how = f"; {level} interval: {', '.join(sorted(named))}" if named else ""
    tuning = f"{clean(document.tuned_by, 40)} on all rows, rule {clean(document.rule, 40)}"
    testing = f"{tested_by(document.tested_by)}{how}"
    scale = document.scale
    of = honest_risk(scale.noun, document.tested_by, tuned=document.tuned)
    honest = f"honest: {of} ({testing})"
    best = best_set_legend(document)
    if not document.tuned:
        return ["selected: nothing, since every learner has one setting", honest, *best]
    return [
        f"{document.selected_scale.selected} ({tuning})",
        *([SELECTED_SCORE] if document.best_learner.risk.scores else []),
        honest,
        *best,
        f"{scale.optimism}; agreement: outer splits that chose the setting of all rows",
    ]


def _differences(document: Assessment) -> FigureTable | None:
    if not document.differences:
        return None
    best, scale = document.best_learner.risk.value, document.scale
    ropes = [each.rope for each in document.differences if each.rope is not None]
    rope = f" by more than {ropes[0]:.15g}" if ropes else ""
    rows = [
        [
            clean(each.learner, 60),
            signed(each.mean, best),
            _between(each.interval, best),
            "–" if each.probability is None else f"{each.probability:.3f}",
        ]
        for each in document.differences
    ]
    likely = f"probability that it is worse{rope}"
    what = f"{scale.short(document.named_scoring)} minus that of the best"
    return FigureTable.from_rows(("learner", what, "interval", likely), rows)


def _between(interval: Interval | None, best: float | None) -> str:
    """Format the limits of the interval of a difference."""
    if interval is None:
        return "none"
    return f"{signed(interval.low, best)} to {signed(interval.high, best)}"


# ---------------------------------------------------------------- sections


def _sections(document: Assessment, rates: Rates | None) -> Iterator[Section]:
    yield Section("learners", "The learners")
    ladder = draw_ladder(document)
    if ladder is not None:
        lead = "How good the same learners look by each number, the most flattering one first."
        yield Section("optimism", "Optimism", lead, (ladder,))
    drawn_of, noun = list(document.ranked_learners.items())[:MOST_LEARNERS], document.scale.noun
    curves = [
        figure
        for i, (name, each) in enumerate(drawn_of)
        for figure in draw_curves(name, each, document, i)
    ]
    if curves:
        lead = f"The {noun} of every setting on all rows; the best of many looks better than it is."
        if len(document.learners) > MOST_LEARNERS:
            lead += f" Drawn are the {MOST_LEARNERS} best learners; the JSON has them all."
        yield Section("curves", f"{noun.capitalize()} curves", lead, tuple(curves))
    learned = known(
        *(
            draw_learning(each.learning_curve, each.expected, name, i)
            for i, (name, each) in enumerate(drawn_of)
            if each.learning_curve is not None
        )
    )
    if learned:
        lead = f"How the {noun} changes with the number of training rows. Each point is tuned anew "
        lead += "on that many rows and tested on the same held-out rows; its inner folds are drawn "
        lead += f"anew, so the last point is not exactly the honest {noun}."
        yield Section("learning", "Learning curves", lead, learned)
    courses = known(
        *(draw_over_time(name, each, document, i) for i, (name, each) in enumerate(drawn_of))
    )
    if courses:
        what = "losses" if document.scale.perfect is None else "scores"
        lead = f"The {what} of rows that were tested, in stretches of about equally many times."
        yield Section("over-time", f"{noun.capitalize()} over time", lead, courses)
    drawn = known(draw_boxes(document), draw_stability(document))
    if drawn:
        lead = "How much the results depend on which rows happened to be in the table."
        yield Section("stability", "Stability", lead, drawn)
    made = "tuned and fitted" if document.best_learner.tuned else "fitted"
    best, calibration = clean(document.best, 60), document.calibration
    if rates is not None:
        lead = f"Each row has the score of a {best} {made} without it; positive class: "
        lead += f"{rates.positive}."
        yield Section("rates", "Ranking and thresholds", lead, rates.above_the_slider())
    if calibration is not None:
        lead = f"Each row has the probability of a {best} {made} without it."
        yield Section("calibration", "Calibration", lead, (draw_calibration(calibration),))
    if document.validation is not None:
        lead = f"What a reviewer asks of {best}; each row is predicted by a model {made} "
        lead += f"without it. Tested on {rows_text(document.validation)}."
        yield Section("validation", "Validation", lead)
    yield from CLOSING


def _areas(document: Assessment) -> dict[str, str]:
    """Return the honest rank scores of the best learner as texts, by name."""
    every = {name: honest_rank(document, name) for name in ("auc", "average-precision")}
    return {
        name: f"{number(area.value)}, {level_and_ends(area.interval)}"
        for name, area in every.items()
        if area is not None and area.value is not None
    }


def _notes(document: Assessment) -> list[str]:
    learners = [(clean(name, 60), each) for name, each in document.ranked_learners.items()]
    notes = [f"{n}: {clean(note, 400)}" for n, each in learners for note in each.risk.notes]
    if document.choice is not None:
        notes += [clean(note, 400) for note in document.choice.notes]
    notes += [f"{n}: {o.claimed}" for n, o in learners if o.no_selected]
    notes += [
        f"{clean(each.learner, 60)}, compared with the best: {clean(note, 400)}"
        for each in document.differences
        for note in each.notes
    ]
    notes += [f"{n}: {o.claimed}" for n, o in learners if not o.no_selected and o.claimed]
    lacks = [(f"{n}: no learning curve", each.no_learning_curve, 300) for n, each in learners]
    lacks += [(f"{n}: no risk over time", each.no_over_time, 300) for n, each in learners]
    if document.task == "classification":
        lacks.append(("no ROC curve", document.no_roc, 200))
    lacks.append(("no validation", document.no_validation, 300))
    notes += [f"{what}: {clean(why, most)}" for what, why, most in lacks if why]
    if document.validation is not None:
        notes += [f"validation: {clean(note, 400)}" for note in document.validation.notes]
    if document.missing:
        listed = ", ".join(clean(name, 60) for name in document.missing)
        notes.append(f"not assessed, because interrupted: {listed}")
    return list(dict.fromkeys(notes))[:40]
