"""The HTML page of an assessment of several learners, as one self-contained file."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.assessment.assessment import Assessment, best_set_legend
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import (
    describe_row_counts,
    escape_and_truncate,
    format_number,
    format_percent,
    join_first_words,
    signed_number,
    yes_or_no,
)
from truerisk.report.curves import draw_curves
from truerisk.report.figure import FigureTable, drop_none
from truerisk.report.ladder import (
    draw_boxes,
    draw_ladder,
    draw_stability,
    value_or_none,
)
from truerisk.report.layout import CLOSING_SECTIONS, Headline, Page, Section, escape_sentences
from truerisk.report.learning import draw_learning_figure, draw_risk_over_time
from truerisk.report.methods_text import (
    assessment_references,
    honest_ranking_score,
    methods_paragraph,
    reproduction_info,
)
from truerisk.report.rates import ThresholdRates, draw_calibration
from truerisk.report.record_figures import draw_error_tail
from truerisk.report.validation_page import validation_references
from truerisk.report.validation_parts import PagePart, build_page_parts, describe_rows
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.interval import Interval
from truerisk.results.sentences import (
    SELECTED_SCORE_LABEL,
    describe_honest_risk,
    describe_interval,
    describe_testing_splits,
    format_setting,
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


def draw_assessment_page(document: Assessment) -> Page:
    """Draw the page of an assessment that was just computed or was read from its JSON."""
    threshold_rates = (
        None
        if document.roc is None
        else ThresholdRates(document.roc, _ranking_score_texts(document))
    )
    source_text = escape_and_truncate(document.source, 80)
    n_learners = len(document.learners)
    learners_text = (
        f"{n_learners} {'tuned ' if document.tuned else ''}learner{'s' if n_learners > 1 else ''}"
    )
    score_scale, loss = document.scale, escape_and_truncate(document.named_scoring, 40)
    risk_label = f"Risks in {loss} loss" if score_scale.perfect is None else f"Scores, {loss}"
    cited_references, validation_sections = assessment_references(document), list[PagePart]()
    page_has_roc = False
    if document.validation is not None:
        cited_references += validation_references(document.validation)
        validation_sections += build_page_parts(document.validation)
        event = document.validation.rows["event"]
        page_has_roc = document.roc is not None and str(document.roc.positive) == str(event)
    sections = tuple(_sections(document, threshold_rates))
    # A part that is not available has the title of the assessment's own section.
    titles = {section.title for section in sections}
    validation_sections = [part for part in validation_sections if part.section.title not in titles]
    names_by_list_title = {"columns": document.columns, "classes": document.classes}
    values = {
        "eyebrow": "assessment",
        "title": f"{source_text}: {learners_text} assessed"
        if source_text
        else f"Assessment of {learners_text}",
        "facts": _fact_texts(document),
        "headline": _headline(document),
        "conclusion": escape_sentences(document.conclusion),
        "findings": document.findings,
        "learners": _learners_table(document),
        "learners_caption": f"{risk_label}, {score_scale.better} is better; the best learner first",
        "scorecard": _scores_table(document),
        "legend": _legend(document),
        "differences": _differences_table(document),
        "sections": sections,
        "validation": tuple(
            section.with_name_prefix("validation", page_has_roc=page_has_roc)
            for section in validation_sections
        ),
        "rates": threshold_rates,
        "rates_data": None if threshold_rates is None else threshold_rates.slider_data(),
        "now": {}
        if threshold_rates is None
        else threshold_rates.format_rates(threshold_rates.slider_start),
        "rate_names": RATE_NAMES,
        "methods": methods_paragraph(document),
        "references": list(dict.fromkeys(cited_references)),
        "repeat": reproduction_info(document),
        "described": [
            (
                list_title,
                join_first_words(
                    [escape_and_truncate(name, 60) for name in names], MAX_LISTED_NAMES
                ),
            )
            for list_title, names in names_by_list_title.items()
            if names
        ],
        "notes": _notes(document),
    }
    return Page("page.html", values)


# ---------------------------------------------------------------- top of the page


MAX_COUNTED_CLASSES = (
    4  # With more classes than this, the page does not count the rows of each class.
)


def _fact_texts(document: Assessment) -> list[str]:
    class_sizes = dict(zip(document.classes, document.class_sizes, strict=False))
    counted_classes = class_sizes if len(class_sizes) <= MAX_COUNTED_CLASSES else {}
    fact_texts = [describe_row_counts(document.n_rows, counted_classes)]
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
    report_details.append(describe_interval(reported_estimate.interval))
    if document.choice is not None:
        report_details.append(f"{risk_noun} of choosing among {len(document.learners)} learners")
    headlines = [
        Headline(
            f"Report this {risk_noun}",
            format_number(reported_estimate.value),
            "; ".join(report_details),
            "report",
        ),
        Headline(
            "Best learner",
            escape_and_truncate(document.best, 24),
            format_setting(best_learner.setting),
        ),
        Headline(
            f"Its honest {risk_noun}",
            format_number(honest_estimate.value),
            describe_interval(honest_estimate.interval),
        ),
    ]
    if best_learner.tuned:
        selected_text = format_number(value_or_none(best_learner.selected))
        headlines.append(
            Headline("Measured in tuning", selected_text, _describe_selected_risk(best_learner))
        )
    if document.baseline is not None:
        baseline_text, rule_text = format_number(document.baseline), document.baseline_rule or ""
        headlines.append(Headline("Without learning", baseline_text, rule_text))
    return headlines


def _describe_selected_risk(best_learner: TunedLearner) -> str:
    """Return the text beside the selected setting's risk: its optimism, or why there is none."""
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
            format_setting(learner.setting),
            format_number(value_or_none(learner.selected)),
            format_number(learner.risk.value),
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
            format_number(value_or_none(selected_estimate)),
            format_number(honest_estimate.value),
            str(honest_estimate.interval or "none"),
        ]
        for name, learner, selected_estimate, honest_estimate in document.reported_scores()
        if name != document.named_scoring
    ]
    header = ("score", "learner", "selected", "honest", "interval")
    return FigureTable.from_rows(header, rows) if rows else None


def _legend(document: Assessment) -> list[str]:
    interval_names = {
        escape_and_truncate(risk_estimate.interval.method, 40)
        for risk_estimate in document.risks.values()
        if risk_estimate.interval
    }
    level_text = format_percent(document.confidence_level)
    interval_text = (
        f"; {level_text} interval: {', '.join(sorted(interval_names))}" if interval_names else ""
    )
    tuning_method = escape_and_truncate(document.tuned_by, 40)
    tuning_text = f"{tuning_method} on all rows, rule {escape_and_truncate(document.rule, 40)}"
    testing_text = f"{describe_testing_splits(document.tested_by)}{interval_text}"
    score_scale = document.scale
    risk_text = describe_honest_risk(score_scale.noun, document.tested_by, is_tuned=document.tuned)
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
        *([SELECTED_SCORE_LABEL] if document.best_learner.risk.scores else []),
        honest_line,
        *best_set_lines,
        f"{score_scale.optimism_label}; agreement: outer splits that chose the setting of all rows",
    ]


def _differences_table(document: Assessment) -> FigureTable | None:
    if not document.differences:
        return None
    best_risk, score_scale = document.best_learner.risk.value, document.scale
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
    difference_head = f"{score_scale.short_name(document.named_scoring)} minus that of the best"
    return FigureTable.from_rows(("learner", difference_head, "interval", probability_head), rows)


def _interval_text(interval: Interval | None, best_risk: float | None) -> str:
    """Format the interval of a difference as "low to high"."""
    if interval is None:
        return "none"
    return f"{signed_number(interval.low, best_risk)} to {signed_number(interval.high, best_risk)}"


# ---------------------------------------------------------------- sections with figures


def _sections(document: Assessment, threshold_rates: ThresholdRates | None) -> Iterator[Section]:
    yield Section("learners", "The learners")
    ladder_figure = draw_ladder(document)
    if ladder_figure is not None:
        introduction = (
            "How good the same learners look by each number, the most flattering one first."
        )
        yield Section("optimism", "Optimism", introduction, (ladder_figure,))
    drawn_learners, risk_noun = (
        list(document.ranked_learners.items())[:MAX_DRAWN_LEARNERS],
        document.scale.noun,
    )
    curve_figures = [
        figure
        for index, (name, learner) in enumerate(drawn_learners)
        for figure in draw_curves(name, learner, document, index)
    ]
    if curve_figures:
        introduction = (
            f"The {risk_noun} of every setting on all rows; the best of many looks better than it "
            "is."
        )
        if len(document.learners) > MAX_DRAWN_LEARNERS:
            introduction += (
                f" Drawn are the {MAX_DRAWN_LEARNERS} best learners; the JSON has them all."
            )
        yield Section(
            "curves", f"{risk_noun.capitalize()} curves", introduction, tuple(curve_figures)
        )
    learning_figures = drop_none(
        *(
            draw_learning_figure(learner.learning_curve, learner.expected, name, index)
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
    time_figures = drop_none(
        *(
            draw_risk_over_time(name, learner, document, index)
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
    if document.posterior is not None:
        introduction = (
            f"The errors of {escape_and_truncate(document.best, 60)} on held-out rows give a "
            "posterior of its true error, as if one rule had made all of them."
        )
        figures = (draw_error_tail(ErrorPosterior(**document.posterior)),)
        yield Section("posterior", "Posterior of the error", introduction, figures)
    stability_figures = drop_none(draw_boxes(document), draw_stability(document))
    if stability_figures:
        introduction = "How much the results depend on which rows happened to be in the table."
        yield Section("stability", "Stability of the choice", introduction, stability_figures)
    fitting_verb = "tuned and fitted" if document.best_learner.tuned else "fitted"
    best_name, calibration = escape_and_truncate(document.best, 60), document.calibration
    if threshold_rates is not None:
        introduction = (
            f"Each row has the score of a {best_name} {fitting_verb} without it; positive class: "
        )
        introduction += f"{threshold_rates.positive}."
        yield Section(
            "rates", "Ranking and thresholds", introduction, threshold_rates.draw_slider_figures()
        )
    validated = None if document.validation is None else document.validation.calibration
    if calibration is not None and validated is None:  # The validation draws a smooth curve.
        introduction = f"Each row has the probability of a {best_name} {fitting_verb} without it."
        yield Section("calibration", "Calibration", introduction, (draw_calibration(calibration),))
    if document.validation is not None:
        introduction = (
            f"What a reviewer asks of {best_name}; each row is predicted by a model {fitting_verb} "
        )
        introduction += f"without it. Tested on {describe_rows(document.validation)}."
        yield Section("validation", "Validation", introduction)
    yield from CLOSING_SECTIONS


def _ranking_score_texts(document: Assessment) -> dict[str, str]:
    """Format the best learner's honest AUC and average precision, each with its interval."""
    ranking_estimates = {
        name: honest_ranking_score(document, name) for name in ("auc", "average-precision")
    }
    return {
        name: (
            f"{format_number(ranking_estimate.value)}, "
            f"{describe_interval(ranking_estimate.interval)}"
        )
        for name, ranking_estimate in ranking_estimates.items()
        if ranking_estimate is not None and ranking_estimate.value is not None
    }


def _notes(document: Assessment) -> list[str]:
    learners = [
        (escape_and_truncate(name, 60), learner)
        for name, learner in document.ranked_learners.items()
    ]
    finding_notes = {finding.note for finding in document.findings}
    notes = [
        f"{learner_name}: {escape_and_truncate(note, 400)}"
        for learner_name, learner in learners
        for note in learner.risk.notes
        if note not in finding_notes
    ]
    if document.choice is not None:
        notes += [
            escape_and_truncate(note, 400)
            for note in document.choice.notes
            if note not in finding_notes
        ]
    notes += [
        f"{learner_name}: {tuned_learner.claim_text}"
        for learner_name, tuned_learner in learners
        if tuned_learner.no_selected
    ]
    notes += [
        f"{escape_and_truncate(difference.learner, 60)}, compared with the best: "
        f"{escape_and_truncate(note, 400)}"
        for difference in document.differences
        for note in difference.notes
    ]
    notes += [
        f"{learner_name}: {tuned_learner.claim_text}"
        for learner_name, tuned_learner in learners
        if not tuned_learner.no_selected and tuned_learner.claim_text
    ]
    missing_parts = [
        (f"{learner_name}: no learning curve", learner.no_learning_curve, 300)
        for learner_name, learner in learners
    ]
    missing_parts += [
        (f"{learner_name}: no risk over time", learner.no_over_time, 300)
        for learner_name, learner in learners
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
