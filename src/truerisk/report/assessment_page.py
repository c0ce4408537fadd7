"""The HTML page of an assessment of several learners, as one self-contained file."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.assessment.assessment import Assessment, best_set_legend
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import (
    escape_and_truncate,
    join_first_words,
    number,
    percent,
    rows_counted,
    signed_number,
    yes_or_no,
)
from truerisk.report.curves import draw_curves
from truerisk.report.figure import FigureTable, without_none
from truerisk.report.ladder import (
    draw_boxes,
    draw_ladder,
    draw_stability,
    value_of,
)
from truerisk.report.layout import CLOSING, Headline, Page, Section, sentences
from truerisk.report.learning import draw_learning, draw_over_time
from truerisk.report.methods_text import (
    honest_rank,
    level_and_ends,
    methods_paragraph,
    references,
    repeat_info,
)
from truerisk.report.rates import Rates, draw_calibration
from truerisk.report.validation_page import validation_references
from truerisk.report.validation_parts import PagePart, parts_of, rows_text
from truerisk.results.interval import Interval
from truerisk.results.sentences import (
    SELECTED_SCORE,
    describe_honest_risk,
    describe_testing_splits,
    setting_text,
)

MAX_DRAWN_LEARNERS = 12  # Maximum number of learners whose risk curves are drawn.
MAX_LISTED_NAMES = 20  # Maximum number of column names, and of class names, that are listed.
RATE_NAMES = (
    ("sensitivity", "sensitivity (recall)"),
    ("specificity", "specificity"),
    ("precision", "precision"),
    ("npv", "negative predictive value"),
    ("error", "share of wrong calls"),
    ("cost", "expected cost per row"),
)


def draw_page(document: Assessment) -> Page:
    """Return the page of an assessment, which was just computed or read from its JSON."""
    rates = None if document.roc is None else Rates(document.roc, _rank_texts(document))
    source = escape_and_truncate(document.source, 80)
    n_learners = len(document.learners)
    learners_text = (
        f"{n_learners} {'tuned ' if document.tuned else ''}learner{'s' if n_learners > 1 else ''}"
    )
    scale, loss = document.scale, escape_and_truncate(document.named_scoring, 40)
    loss_or_score = f"Risks in {loss} loss" if scale.perfect is None else f"Scores, {loss}"
    cited_references, validation_sections = references(document), list[PagePart]()
    if document.validation is not None:
        cited_references += validation_references(document.validation)
        validation_sections += parts_of(document.validation)
    listed_names = {"columns": document.columns, "classes": document.classes}
    values = {
        "eyebrow": "assessment",
        "title": f"{source}: {learners_text} assessed"
        if source
        else f"Assessment of {learners_text}",
        "facts": _fact_texts(document),
        "headline": _headline(document),
        "conclusion": sentences(document.conclusion),
        "findings": document.findings,
        "learners": _learners_table(document),
        "learners_caption": f"{loss_or_score}, {scale.better} is better; the best learner first",
        "scorecard": _scores_table(document),
        "legend": _legend(document),
        "differences": _differences_table(document),
        "sections": tuple(_sections(document, rates)),
        "validation": tuple(section.inside("validation") for section in validation_sections),
        "rates": rates,
        "rates_data": None if rates is None else rates.data(),
        "now": {} if rates is None else rates.numbers(rates.slider_start),
        "rate_names": RATE_NAMES,
        "methods": methods_paragraph(document),
        "references": list(dict.fromkeys(cited_references)),
        "repeat": repeat_info(document),
        "described": [
            (
                list_title,
                join_first_words(
                    [escape_and_truncate(name, 60) for name in names], MAX_LISTED_NAMES
                ),
            )
            for list_title, names in listed_names.items()
            if names
        ],
        "notes": _notes(document),
    }
    return Page("page.html", values)


# ---------------------------------------------------------------- top of the page


MOST_CLASSES = 4  # With more classes than this, the rows of each class are not counted in a line.


def _fact_texts(document: Assessment) -> list[str]:
    class_sizes = dict(zip(document.classes, document.class_sizes, strict=False))
    counted_classes = class_sizes if len(class_sizes) <= MOST_CLASSES else {}
    fact_texts = [rows_counted(document.n_rows, counted_classes)]
    if document.columns:
        fact_texts.append(f"{len(document.columns)} columns")
    if document.classes and not counted_classes:
        fact_texts.append(f"{len(document.classes)} classes")
    score_name = escape_and_truncate(document.named_scoring, 40)
    fact_texts.append(score_name if document.scale.perfect is not None else f"{score_name} loss")
    if document.tuned:
        fact_texts.append(f"tuned by {escape_and_truncate(document.tuned_by, 40)}")
    fact_texts.append(f"tested by {describe_testing_splits(document.tested_by)}")
    return fact_texts


def _headline(document: Assessment) -> list[Headline]:
    best_learner, reported_estimate, risk_noun = (
        document.best_learner,
        document.report,
        document.scale.noun,
    )
    honest_estimate = best_learner.risk
    report_details = (
        [] if document.scale.perfect is None else [escape_and_truncate(document.named_scoring, 40)]
    )
    report_details.append(level_and_ends(reported_estimate.interval))
    if document.choice is not None:
        report_details.append(f"{risk_noun} of choosing among {len(document.learners)} learners")
    headlines = [
        Headline(
            f"Report this {risk_noun}",
            number(reported_estimate.value),
            "; ".join(report_details),
            "report",
        ),
        Headline(
            "Best learner",
            escape_and_truncate(document.best, 24),
            setting_text(best_learner.setting),
        ),
        Headline(
            f"Its honest {risk_noun}",
            number(honest_estimate.value),
            level_and_ends(honest_estimate.interval),
        ),
    ]
    if best_learner.tuned:
        selected_text = number(value_of(best_learner.selected))
        headlines.append(
            Headline("Measured in tuning", selected_text, _describe_selected_risk(best_learner))
        )
    if document.baseline is not None:
        baseline_text, rule_text = number(document.baseline), document.baseline_rule or ""
        headlines.append(Headline("Without learning", baseline_text, rule_text))
    return headlines


def _describe_selected_risk(best_learner: TunedLearner) -> str:
    """Return the text next to the risk that tuning selected: its optimism, or why there is none."""
    if best_learner.optimism is not None:
        return f"optimism {signed_number(best_learner.optimism, best_learner.risk.value)}"
    if best_learner.selected is not None:
        return "of another loss"
    return escape_and_truncate(best_learner.no_selected or "", 100) or "not known"


# ---------------------------------------------------------------- tables of learners and scores


def _learners_table(document: Assessment) -> FigureTable:
    best_set = document.usual_best_set
    rows = [
        [
            escape_and_truncate(name, 60),
            setting_text(learner.setting),
            number(value_of(learner.selected)),
            number(learner.risk.value),
            str(learner.risk.interval or "none"),
            yes_or_no(None if best_set is None else name in best_set),
            signed_number(learner.optimism, learner.risk.value),
            f"{learner.stability.agreement:.0%}" if len(learner.curve) > 1 else "–",
            str(learner.n_fits),
        ]
        for name, learner in document.ranked_learners.items()
    ]
    header = ("learner", "chosen setting", "selected", "honest", "interval", "best?", "optimism")
    return FigureTable.from_rows((*header, "agreement", "fits"), rows)


def _scores_table(document: Assessment) -> FigureTable | None:
    """Return a table of every learner's further scores, or None if none were requested."""
    rows = [
        [
            f"{escape_and_truncate(name, 40)} ({honest_estimate.scale.better} is better)",
            escape_and_truncate(learner, 60),
            number(value_of(selected_estimate)),
            number(honest_estimate.value),
            str(honest_estimate.interval or "none"),
        ]
        for name, learner, selected_estimate, honest_estimate in document.reported_scores()
        if name != document.named_scoring
    ]
    header = ("score", "learner", "selected", "honest", "interval")
    return FigureTable.from_rows(header, rows) if rows else None


def _legend(document: Assessment) -> list[str]:
    interval_names = {
        escape_and_truncate(o.interval.method, 40) for o in document.risks.values() if o.interval
    }
    level = percent(document.confidence_level)
    interval_text = (
        f"; {level} interval: {', '.join(sorted(interval_names))}" if interval_names else ""
    )
    tuning_method = escape_and_truncate(document.tuned_by, 40)
    tuning_text = f"{tuning_method} on all rows, rule {escape_and_truncate(document.rule, 40)}"
    testing_text = f"{describe_testing_splits(document.tested_by)}{interval_text}"
    scale = document.scale
    risk_text = describe_honest_risk(scale.noun, document.tested_by, is_tuned=document.tuned)
    honest_line = f"honest: {risk_text} ({testing_text})"
    best_set_lines = best_set_legend(document)
    if not document.tuned:
        return [
            "selected: nothing, since every learner has one setting",
            honest_line,
            *best_set_lines,
        ]
    return [
        f"{document.selected_scale.selected_label} ({tuning_text})",
        *([SELECTED_SCORE] if document.best_learner.risk.scores else []),
        honest_line,
        *best_set_lines,
        f"{scale.optimism_label}; agreement: outer splits that chose the setting of all rows",
    ]


def _differences_table(document: Assessment) -> FigureTable | None:
    if not document.differences:
        return None
    best_risk, scale = document.best_learner.risk.value, document.scale
    ropes = [difference.rope for difference in document.differences if difference.rope is not None]
    rope_text = f" by more than {ropes[0]:.15g}" if ropes else ""
    rows = [
        [
            escape_and_truncate(difference.learner, 60),
            signed_number(difference.mean, best_risk),
            _interval_text(difference.interval, best_risk),
            "–" if difference.probability is None else f"{difference.probability:.3f}",
        ]
        for difference in document.differences
    ]
    probability_head = f"probability that it is worse{rope_text}"
    difference_head = f"{scale.short_name(document.named_scoring)} minus that of the best"
    return FigureTable.from_rows(("learner", difference_head, "interval", probability_head), rows)


def _interval_text(interval: Interval | None, best_risk: float | None) -> str:
    """Format the interval of a difference as "low to high"."""
    if interval is None:
        return "none"
    return f"{signed_number(interval.low, best_risk)} to {signed_number(interval.high, best_risk)}"


# ---------------------------------------------------------------- sections with figures


def _sections(document: Assessment, rates: Rates | None) -> Iterator[Section]:
    yield Section("learners", "The learners")
    ladder = draw_ladder(document)
    if ladder is not None:
        introduction = (
            "How good the same learners look by each number, the most flattering one first."
        )
        yield Section("optimism", "Optimism", introduction, (ladder,))
    drawn_learners, risk_noun = (
        list(document.ranked_learners.items())[:MAX_DRAWN_LEARNERS],
        document.scale.noun,
    )
    curves = [
        figure
        for index, (name, learner) in enumerate(drawn_learners)
        for figure in draw_curves(name, learner, document, index)
    ]
    if curves:
        introduction = (
            f"The {risk_noun} of every setting on all rows; the best of many looks better than it "
            "is."
        )
        if len(document.learners) > MAX_DRAWN_LEARNERS:
            introduction += (
                f" Drawn are the {MAX_DRAWN_LEARNERS} best learners; the JSON has them all."
            )
        yield Section("curves", f"{risk_noun.capitalize()} curves", introduction, tuple(curves))
    learning_figures = without_none(
        *(
            draw_learning(learner.learning_curve, learner.expected, name, index)
            for index, (name, learner) in enumerate(drawn_learners)
            if learner.learning_curve is not None
        )
    )
    if learning_figures:
        introduction = (
            f"How the {risk_noun} changes with the number of training rows. Each point is tuned "
            "anew "
        )
        introduction += (
            "on that many rows and tested on the same held-out rows; its inner folds are drawn "
        )
        introduction += f"anew, so the last point is not exactly the honest {risk_noun}."
        yield Section("learning", "Learning curves", introduction, learning_figures)
    time_figures = without_none(
        *(
            draw_over_time(name, learner, document, index)
            for index, (name, learner) in enumerate(drawn_learners)
        )
    )
    if time_figures:
        loss_noun = "losses" if document.scale.perfect is None else "scores"
        introduction = (
            f"The {loss_noun} of rows that were tested, in stretches of about equally many times."
        )
        yield Section(
            "over-time", f"{risk_noun.capitalize()} over time", introduction, time_figures
        )
    stability_figures = without_none(draw_boxes(document), draw_stability(document))
    if stability_figures:
        introduction = "How much the results depend on which rows happened to be in the table."
        yield Section("stability", "Stability", introduction, stability_figures)
    fitting_verb = "tuned and fitted" if document.best_learner.tuned else "fitted"
    best_name, calibration = escape_and_truncate(document.best, 60), document.calibration
    if rates is not None:
        introduction = (
            f"Each row has the score of a {best_name} {fitting_verb} without it; positive class: "
        )
        introduction += f"{rates.positive}."
        yield Section("rates", "Ranking and thresholds", introduction, rates.above_the_slider())
    if calibration is not None:
        introduction = f"Each row has the probability of a {best_name} {fitting_verb} without it."
        yield Section("calibration", "Calibration", introduction, (draw_calibration(calibration),))
    if document.validation is not None:
        introduction = (
            f"What a reviewer asks of {best_name}; each row is predicted by a model {fitting_verb} "
        )
        introduction += f"without it. Tested on {rows_text(document.validation)}."
        yield Section("validation", "Validation", introduction)
    yield from CLOSING


def _rank_texts(document: Assessment) -> dict[str, str]:
    """Return texts of the best learner's honest AUC and average precision, by name."""
    areas = {name: honest_rank(document, name) for name in ("auc", "average-precision")}
    return {
        name: f"{number(area.value)}, {level_and_ends(area.interval)}"
        for name, area in areas.items()
        if area is not None and area.value is not None
    }


def _notes(document: Assessment) -> list[str]:
    learners = [
        (escape_and_truncate(name, 60), learner)
        for name, learner in document.ranked_learners.items()
    ]
    notes = [
        f"{n}: {escape_and_truncate(note, 400)}"
        for n, learner in learners
        for note in learner.risk.notes
    ]
    if document.choice is not None:
        notes += [escape_and_truncate(note, 400) for note in document.choice.notes]
    notes += [f"{n}: {o.claim_text}" for n, o in learners if o.no_selected]
    notes += [
        f"{escape_and_truncate(difference.learner, 60)}, compared with the best: "
        f"{escape_and_truncate(note, 400)}"
        for difference in document.differences
        for note in difference.notes
    ]
    notes += [f"{n}: {o.claim_text}" for n, o in learners if not o.no_selected and o.claim_text]
    missing_parts = [
        (f"{n}: no learning curve", learner.no_learning_curve, 300) for n, learner in learners
    ]
    missing_parts += [
        (f"{n}: no risk over time", learner.no_over_time, 300) for n, learner in learners
    ]
    if document.task == "classification":
        missing_parts.append(("no ROC curve", document.no_roc, 200))
    missing_parts.append(("no validation", document.no_validation, 300))
    notes += [
        f"{part_text}: {escape_and_truncate(reason, max_length)}"
        for part_text, reason, max_length in missing_parts
        if reason
    ]
    if document.validation is not None:
        notes += [
            f"validation: {escape_and_truncate(note, 400)}" for note in document.validation.notes
        ]
    if document.missing:
        missing_names = ", ".join(escape_and_truncate(name, 60) for name in document.missing)
        notes.append(f"not assessed, because interrupted: {missing_names}")
    return list(dict.fromkeys(notes))[:40]
