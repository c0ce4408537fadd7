"""Import rarely used modules of an assessment only when a call needs them."""

from __future__ import annotations

from truerisk.core.registry import make_loader

load_from_assessment = make_loader(
    "truerisk",
    """
    choice  assessment.risk_of_choice:risk_of_choice  the risk of choosing among several learners
    differences  assessment.differences:differences_of  each learner minus the best one
    findings  assessment.fragility:fragility_findings  what makes the answer fragile
    learning-curves  assessment.learning_curves:planned_curves  risks on fewer rows
    roc  assessment.held_out_curves:roc_curve  the ROC curve of held-out rows
    calibration  assessment.held_out_curves:calibration  the calibration of held-out rows
    over-time  diagnostics.risk_over_time:risk_over_time  the risk in stretches of time
    posterior  results.error_posterior:ErrorPosterior  the posterior of the error
    wishes  assessment.validated:planned_options  what a validation shall tell
    validation  assessment.validated:validate_learner  the validation of the best learner
    """,
)
