"""Write the conclusion of an assessment in sentences."""

from __future__ import annotations

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core import formats
from truerisk.core.errors import Refusal
from truerisk.core.formats import escape_and_truncate, format_params, format_percent, signed_number
from truerisk.results.counted_errors import zero_one_losses
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import further_scores

_MAX_NAME_LENGTH = 40
_MAX_SETTING_LENGTH = 80


def conclude(assessment: Assessment) -> str:
    """Write the conclusion of an assessment: which number to report and which learner to use.

    The conclusion also says how often this learner errs, and which other learners may be as good.
    """
    if assessment.learners[assessment.best].risk.value is None:
        return "No learner has a risk: fits failed for all of them."
    if _is_better_than_constant(assessment) is False:
        sentences = [_no_gain_sentence(assessment), _choice_sentence(assessment)]
    else:
        sentences = [
            _choice_sentence(assessment),
            _winner_sentence(assessment),
            _error_count_sentence(assessment),
        ]
        untuned_comparison = assessment.learners[assessment.best].as_given
        if untuned_comparison is not None and untuned_comparison.is_untuned_sufficient(
            assessment.confidence_level
        ):
            sentences.append(f"Tuning is not shown to help: {untuned_comparison}.")
        sentences.append(_best_set_sentence(assessment))
    values = [
        f"{score.scale.name_for(score.named_scoring)} {formats.format_risk(score.value)} "
        f"({_interval_text(score, shows_reason=False)})"
        for score in further_scores(assessment.report)
    ]
    if values:
        sentences.append(f"Report also {formats.join_words(values)}.")
    if assessment.missing:
        names = ", ".join(
            escape_and_truncate(name, _MAX_NAME_LENGTH) for name in assessment.missing
        )
        sentences.append(f"Not assessed, because interrupted: {names}.")
    return " ".join(filter(None, sentences))


def _is_better_than_constant(assessment: Assessment) -> bool | None:
    """Return True if the learner is better than the best constant prediction, beyond noise.

    The result is None if this is unknown.
    """
    gain = assessment.gain()
    if gain is not None:
        return gain.mean > 0 and gain.exceeds_noise(assessment.confidence_level)
    if assessment.baseline is None:
        return None
    best_risk, reported_risk = (
        assessment.learners[assessment.best].risk.loss_value,
        assessment.report.loss_value,
    )
    larger_risk = max(value for value in (best_risk, reported_risk) if value is not None)
    return None if larger_risk < assessment.scale.value(assessment.baseline) else False


def _best_value(assessment: Assessment) -> float:
    value = assessment.learners[assessment.best].risk.value
    assert value is not None
    return value


def _winner_sentence(assessment: Assessment) -> str:
    best_learner = assessment.learners[assessment.best]
    text = f"Use {_learner_label(assessment, assessment.best)}"
    if assessment.choice is None or assessment.choice.value is None:
        text += f": expect {_risk_text(assessment, best_learner.risk)} on new rows"
    else:
        value = formats.format_risk(best_learner.risk.value)
        risk_noun = best_learner.risk.scale.noun
        text += f", whose own {risk_noun} is {value} ({_interval_text(best_learner.risk)})"
    text += _selected_risk_text(best_learner)
    if assessment.constant is None:
        return text + "."
    text += (
        f", and {assessment.constant.rule} has "
        f"{formats.format_risk(assessment.scale.value(assessment.constant.risk))}"
    )
    is_unsure = assessment.gain() is None and best_learner.risk.interval is None
    return text + (" (without an interval, the gain may be chance)." if is_unsure else ".")


def _no_gain_sentence(assessment: Assessment) -> str:
    assert assessment.constant is not None
    best_learner = assessment.learners[assessment.best]
    n = len(assessment.learners)
    subject = (
        f"Choosing the best of these {n} learners"
        if n > 1
        else escape_and_truncate(assessment.best, _MAX_NAME_LENGTH)
    )
    text = f"{subject} is not shown to beat {assessment.constant.rule} "
    text += f"({formats.format_risk(assessment.scale.value(assessment.constant.risk))}): "
    text += (
        f"{_learner_label(assessment, assessment.best)} has "
        f"{_risk_text(assessment, best_learner.risk)} on new rows"
    )
    return f"{text}{_selected_risk_text(best_learner)}."


def _selected_risk_text(learner: TunedLearner) -> str:
    if learner.selected is None:
        return ""
    selected_risk = learner.selected
    return (
        f"; the {selected_risk.scale.noun} by which its setting was chosen was "
        f"{formats.format_risk(selected_risk.value)}"
    )


def _learner_label(assessment: Assessment, name: str) -> str:
    setting = format_params(assessment.learners[name].curve.best_params)
    return (
        f"{escape_and_truncate(name, _MAX_NAME_LENGTH)} "
        f"({escape_and_truncate(setting, _MAX_SETTING_LENGTH)})"
    )


def _risk_text(assessment: Assessment, risk: RiskEstimate) -> str:
    """Format a risk: 'a risk of 0.1333 (13.3 % wrong answers; ...)', or 'auc 0.7890 (95 % ...)'."""
    value = formats.format_risk(risk.value)
    if risk.scale.perfect is None:
        return f"a risk of {value} ({_value_description(assessment, risk)})"
    return (
        f"{escape_and_truncate(risk.named_scoring, _MAX_NAME_LENGTH)} {value} "
        f"({_interval_text(risk)})"
    )


def _value_description(
    assessment: Assessment, risk: RiskEstimate, *, shows_reason: bool = True
) -> str:
    """Format a value and its interval: '13.3 % wrong answers; 95 % interval ...'."""
    assert risk.value is not None
    problem, description = (
        assessment.problem,
        escape_and_truncate(risk.named_scoring, _MAX_NAME_LENGTH),
    )
    if risk.scale.perfect is None and problem is not None and problem.loss.binary:
        description = f"{100 * risk.value:.1f} % wrong answers{_error_count_text(risk)}"
    return f"{description}; {_interval_text(risk, shows_reason=shows_reason)}"


def _error_count_text(risk: RiskEstimate) -> str:
    """Format the count of errors: ', 20 of 150', or '' if errors are not independent trials."""
    try:
        losses = zero_one_losses(risk)
    except Refusal:
        return ""
    return f", {losses.sum():.0f} of {len(losses)}"


def _interval_text(risk: RiskEstimate, *, shows_reason: bool = True) -> str:
    interval = risk.interval
    if interval is not None:
        low, high = (
            formats.format_risk(interval.low, interval.high),
            formats.format_risk(interval.high),
        )
        return f"{format_percent(interval.confidence_level)} interval {low} to {high}"
    if not shows_reason or not risk.notes:
        return "no interval"
    return f"no interval, for {escape_and_truncate(risk.notes[-1].rstrip('.'), 200)}"


def _best_set_sentence(assessment: Assessment) -> str:
    """Name the other learners that may be the best, or say that no other learner may be."""
    best_set, level_percent = assessment.usual_best_set, 100 * assessment.confidence_level
    if best_set is None or len(assessment.learners) < 2:
        return ""
    confidence_text = f"At {level_percent:.15g} % confidence (one-sided)"
    other_names = [name for name in best_set if name != assessment.best]
    if not other_names:
        return f"{confidence_text}, no other learner is as good."
    scale = assessment.scale
    score_name = scale.short_name(assessment.named_scoring)
    other_texts = [
        f"{escape_and_truncate(name, _MAX_NAME_LENGTH)} ({score_name} "
        f"{signed_number(_difference_from_best(assessment, name), _best_value(assessment))})"
        for name in other_names
    ]
    return (
        f"{confidence_text}, the best learner may also be {formats.join_words(other_texts, 'or')}."
    )


def _difference_from_best(assessment: Assessment, name: str) -> float:
    value = assessment.risks[name].value
    assert value is not None  # A learner can only be in the best set if it has a risk.
    return value - _best_value(assessment)


def _choice_sentence(assessment: Assessment) -> str:
    if assessment.choice is None or assessment.choice.value is None:
        return ""
    value = formats.format_risk(assessment.choice.value)
    return (
        f"Report {value} ({_value_description(assessment, assessment.choice, shows_reason=False)}) "
        f"for new rows: the choice among the {len(assessment.learners)} learners was repeated in "
        "every split."
    )


def _error_count_sentence(assessment: Assessment) -> str:
    """Write how many of 100 new rows get a wrong answer, or of 1,000 rows if errors are rare."""
    risk, problem = assessment.report, assessment.problem
    if problem is None or not problem.loss.binary or risk.weighted:
        return ""
    error_rate, interval = risk.loss_value, risk.loss_interval
    if error_rate is None or interval is None:
        return ""
    n = 1000 if error_rate < SMALL_ERROR_RATE else 100
    low, value, high = (round(n * rate) for rate in (interval.low, error_rate, interval.high))
    text = f"Of {n} new rows about {value} get a wrong answer ({low} to {high})"
    if error_rate == 0:
        text = f"No tested row got a wrong answer; of {n} new rows at most about {high} do"
    if assessment.constant is not None:
        text += f", {round(n * assessment.constant.risk)} by {assessment.constant.rule}"
    return f"{text}."


SMALL_ERROR_RATE = 0.05
