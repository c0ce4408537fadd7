"""Pictures of results, by the room that draws them: loaded when one is asked for."""

from __future__ import annotations

from truerisk.core.registry import Line, Registry

__all__ = ["displays"]

displays = Registry(
    "display",
    {
        "ladder-picture": Line(
            "truerisk.report.notebook:ladder_picture", "the optimism ladder, for a notebook"
        ),
        "curve-picture": Line(
            "truerisk.report.notebook:curve_picture", "a risk curve, for a notebook"
        ),
        "page": Line("truerisk.report.assessment_page:draw_page", "an assessment as one HTML page"),
        "audit-page": Line("truerisk.report.audit_page:draw_audit", "an audit as one HTML page"),
        "many-page": Line(
            "truerisk.report.many_page:draw_many", "a comparison over data sets as one HTML page"
        ),
        "validation-page": Line(
            "truerisk.report.validation_page:draw_validation", "a validation as one HTML page"
        ),
        "calibration-curve": Line(
            "truerisk.plots.validation:draw_calibration_curve",
            "the smoothed share of events over the probability, with its band",
        ),
        "decision-curve": Line(
            "truerisk.plots.validation:draw_decision_curve", "net benefit against the threshold"
        ),
        "critical-difference": Line(
            "truerisk.plots.critical_difference:draw_critical_difference",
            "average ranks, and which of them lie too close to be told apart",
        ),
        "fold-map": Line(
            "truerisk.plots.fold_map:draw_fold_map", "the rows of a split in space, on a map"
        ),
        "risk-curve": Line("truerisk.plots.curve:draw_curve", "risk against the candidates"),
        "learning-curve": Line(
            "truerisk.plots.learning_curve:draw_learning_curve", "risk against training rows"
        ),
        "risk-over-time": Line(
            "truerisk.plots.over_time:draw_over_time", "risk in stretches of time, and its trend"
        ),
        "coefficient-path": Line("truerisk.plots.path:draw_path", "coefficients against λ"),
        "posterior": Line("truerisk.plots.posterior:draw_posterior", "densities of an error"),
        "ladder": Line("truerisk.plots.assessment:draw_ladder", "apparent, selected, honest risks"),
        "boxes": Line("truerisk.plots.assessment:draw_boxes", "risks of single random splits"),
        "stability": Line(
            "truerisk.plots.assessment:draw_shares", "how often which setting was chosen"
        ),
        "calibration": Line(
            "truerisk.plots.calibration:draw_calibration", "observed shares over probabilities"
        ),
        "roc": Line("truerisk.plots.roc:draw_roc", "true against false positive rate"),
        "precision-recall": Line(
            "truerisk.plots.roc:draw_precision_recall", "precision against recall"
        ),
        "subgroups": Line(
            "truerisk.plots.subgroups:draw_subgroups", "a loss in every subgroup, a forest plot"
        ),
        "instability": Line(
            "truerisk.plots.stability:draw_instability", "how far single predictions move"
        ),
        "selected-features": Line(
            "truerisk.plots.stability:draw_selected_features", "how often features were selected"
        ),
        "study": Line("truerisk.plots.study:draw_study", "what a study found against the size"),
    },
)
