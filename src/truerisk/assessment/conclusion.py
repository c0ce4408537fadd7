"""The conclusion from an assessment, in words."""

from __future__ import annotations

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core import formats
from truerisk.core.formats import clean, params_text, percent, signed
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import further

_NAME = 40
_SETTING = 80


def conclude(tested: Assessment) -> str:
    """Say which number to report, which learner to use, how wrong it is, and if others differ."""
    if tested.learners[tested.best].risk.value is None:
        return "No learner has a risk: fits failed for all of them."
    if _is_useful(tested) is False:
        sentences = [_none_is_better(tested), _whole_choice(tested)]
    else:
        sentences = [_whole_choice(tested), _winner(tested), _of_a_hundred(tested)]
        as_given = tested.learners[tested.best].as_given
        if as_given is not None and as_given.suffices(tested.confidence_level):
            sentences.append(f"Tuning is not shown to help: {as_given}.")
        sentences.append(_name_rivals(tested))
    values = [
        f"{each.scale.name_for(each.named_scoring)} {formats.risk(each.value)} "
        f"({_interval(each, why=False)})"
        for each in further(tested.report)
    ]
    if values:
        sentences.append(f"Report also {formats.listed(values)}.")
    if tested.missing:
        names = ", ".join(clean(name, _NAME) for name in tested.missing)
        sentences.append(f"Not assessed, because interrupted: {names}.")
    return " ".join(filter(None, sentences))


def _is_useful(tested: Assessment) -> bool | None:
    """Return True if learning beats the best constant answer beyond noise; None if unknown."""
    gain = tested.gain()
    if gain is not None:
        return gain.mean > 0 and gain.exceeds_noise(tested.confidence_level)
    if tested.baseline is None:
        return None
    best, report = tested.learners[tested.best].risk.loss_value, tested.report.loss_value
    worst = max(value for value in (best, report) if value is not None)
    return None if worst < tested.scale.value(tested.baseline) else False


def _best(tested: Assessment) -> float:
    value = tested.learners[tested.best].risk.value
    assert value is not None
    return value


def _winner(tested: Assessment) -> str:
    best = tested.learners[tested.best]
    text = f"Use {_label(tested, tested.best)}"
    if tested.choice is None or tested.choice.value is None:
        text += f": expect {_risk_text(tested, best.risk)} on new rows"
    else:
        value = formats.risk(best.risk.value)
        text += f", which on its own has {value} ({_interval(best.risk)})"
    text += _claim(best)
    if tested.constant is None:
        return text + "."
    text += (
        f", and {tested.constant.rule} has {formats.risk(tested.scale.value(tested.constant.risk))}"
    )
    unsure = tested.gain() is None and best.risk.interval is None
    return text + (" (without an interval, the gain may be chance)." if unsure else ".")


def _none_is_better(tested: Assessment) -> str:
    assert tested.constant is not None
    best = tested.learners[tested.best]
    n = len(tested.learners)
    who = f"Choosing the best of these {n} learners" if n > 1 else clean(tested.best, _NAME)
    text = f"{who} is not shown to beat {tested.constant.rule} "
    text += f"({formats.risk(tested.scale.value(tested.constant.risk))}): "
    text += f"{_label(tested, tested.best)} has {_risk_text(tested, best.risk)} on new rows"
    return f"{text}{_claim(best)}."


def _claim(learner: TunedLearner) -> str:
    if learner.selected is None:
        return ""
    own = learner.selected
    return f"; the {own.scale.noun} that tuned it was {formats.risk(own.value)}"


def _label(tested: Assessment, name: str) -> str:
    setting = params_text(tested.learners[name].curve.best_params)
    return f"{clean(name, _NAME)} ({clean(setting, _SETTING)})"


def _risk_text(tested: Assessment, risk: RiskEstimate) -> str:
    """Say 'a risk of 0.1333 (13.3 % wrong answers; 95 % interval ...)', 'auc 0.7890 (95 % ...)'."""
    value = formats.risk(risk.value)
    if risk.scale.perfect is None:
        return f"a risk of {value} ({_meaning(tested, risk)})"
    return f"{clean(risk.named_scoring, _NAME)} {value} ({_interval(risk)})"


def _meaning(tested: Assessment, risk: RiskEstimate, *, why: bool = True) -> str:
    """Format a value and its interval: '13.3 % wrong answers; 95 % interval ...'."""
    assert risk.value is not None
    problem, what = tested.problem, clean(risk.named_scoring, _NAME)
    if risk.scale.perfect is None and problem is not None and problem.loss.binary:
        what = f"{100 * risk.value:.1f} % wrong answers"
    return f"{what}; {_interval(risk, why=why)}"


def _interval(risk: RiskEstimate, *, why: bool = True) -> str:
    interval = risk.interval
    if interval is not None:
        low, high = formats.risk(interval.low, interval.high), formats.risk(interval.high)
        return f"{percent(interval.confidence_level)} interval {low} to {high}"
    if not why or not risk.notes:
        return "no interval"
    return f"no interval, for {clean(risk.notes[-1].rstrip('.'), 200)}"


def _name_rivals(tested: Assessment) -> str:
    """Name the other learners that may be the best, or say that no other one may."""
    best_set, level = tested.usual_best_set, 100 * tested.confidence_level
    if best_set is None or len(tested.learners) < 2:
        return ""
    opening = f"At {level:.15g} % confidence (one-sided)"
    others = [name for name in best_set if name != tested.best]
    if not others:
        return f"{opening}, no other learner is as good."
    scale = tested.scale
    what = scale.short(tested.named_scoring)
    named = [
        f"{clean(name, _NAME)} ({what} {signed(_behind(tested, name), _best(tested))})"
        for name in others
    ]
    return f"{opening}, the best learner may also be {formats.listed(named, 'or')}."


def _behind(tested: Assessment, name: str) -> float:
    value = tested.risks[name].value
    assert value is not None  # Any learner that may be the best has a risk.
    return value - _best(tested)


def _whole_choice(tested: Assessment) -> str:
    if tested.choice is None or tested.choice.value is None:
        return ""
    value = formats.risk(tested.choice.value)
    return (
        f"Report {value} ({_meaning(tested, tested.choice, why=False)}) for new rows: the choice "
        f"among the {len(tested.learners)} learners was repeated in every split."
    )


def _of_a_hundred(tested: Assessment) -> str:
    """Format the reported number per hundred rows, or per thousand if it is small."""
    risk, problem = tested.report, tested.problem
    if problem is None or not problem.loss.binary or risk.weighted:
        return ""
    error, interval = risk.loss_value, risk.loss_interval
    if error is None or interval is None:
        return ""
    n = 1000 if error < FEW_OF_A_HUNDRED else 100
    low, value, high = (round(n * p) for p in (interval.low, error, interval.high))
    text = f"Of {n} new rows about {value} get a wrong answer ({low} to {high})"
    if error == 0:
        text = f"No tested row got a wrong answer; of {n} new rows at most about {high} do"
    if tested.constant is not None:
        text += f", {round(n * tested.constant.risk)} by {tested.constant.rule}"
    return f"{text}."


FEW_OF_A_HUNDRED = 0.05
