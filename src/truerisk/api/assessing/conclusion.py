"""What to conclude from an assessment, in words."""

from __future__ import annotations

from truerisk.api.assessing.tested_learners import TestedLearners
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.core.comparison import Comparison
from truerisk.core.present import clean, number, params_text, signed, unsigned
from truerisk.core.results import RiskEstimate

__all__ = ["conclude"]

_NAME = 40
_SETTING = 80


def conclude(found: TestedLearners) -> str:
    """Which learner, how wrong it is, whether others differ, and the number to report."""
    if found.learners[found.best].risk.value is None:
        return "No learner has a risk: fits failed for all of them."
    useful = _is_useful(found)
    sentences = [
        _nothing(found) if useful is False else _winner(found),
        _untuned(found) if useful is not False else "",
        _others(found) if useful is not False else "",
        _whole_choice(found),
        _left_out(found),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _is_useful(found: TestedLearners) -> bool | None:
    """Whether learning beats the best constant answer by more than its noise; None if unknown."""
    gain = found.gain()
    if gain is not None:
        return gain.mean > 0 and gain.exceeds_noise(found.problem.confidence_level)
    if found.baseline is None:
        return None
    choice = None if found.choice is None else found.choice.value
    return None if max(_best(found), choice or 0.0) < found.baseline else False


def _best(found: TestedLearners) -> float:
    value = found.learners[found.best].risk.value
    assert value is not None
    return value


def _winner(found: TestedLearners) -> str:
    best = found.learners[found.best]
    text = f"Use {_named(found, found.best)}: expect {_expected(found, best.risk)} on new rows"
    text += _claimed(best)
    if found.constant is None:
        return text + "."
    text += f", and {found.constant.rule} has {number(found.constant.risk)}"
    unsure = found.gain() is None
    return text + (" (without an interval, the gain may be chance)." if unsure else ".")


def _nothing(found: TestedLearners) -> str:
    assert found.constant is not None
    best = found.learners[found.best]
    n = len(found.learners)
    who = f"None of these {n} learners is" if n > 1 else f"{clean(found.best, _NAME)} is not"
    text = f"{who} shown to beat {found.constant.rule} ({number(found.constant.risk)}): "
    text += f"{_named(found, found.best)} has {_expected(found, best.risk)} on new rows"
    return f"{text}{_claimed(best)}."


def _untuned(found: TestedLearners) -> str:
    """That the setting as given does as well, as far as these rows can tell."""
    given = found.learners[found.best].as_given
    if given is None or not given.suffices(found.problem.confidence_level):
        return ""
    return f"Tuning is not shown to help: {given}."


def _claimed(one: TunedLearner) -> str:
    if one.selected is None:
        return ""
    return f"; the score that tuned it said {number(one.selected.value)}"


def _named(found: TestedLearners, name: str) -> str:
    setting = params_text(found.learners[name].curve.best_params)
    return f"{clean(name, _NAME)} ({clean(setting, _SETTING)})"


def _expected(found: TestedLearners, risk: RiskEstimate) -> str:
    """'a risk of 0.1333 (13.3 % wrong answers; 95 % interval 0.0466 to 0.2201)'."""
    assert risk.value is not None
    loss = found.problem.loss
    what = clean(risk.loss, _NAME)
    if loss.binary:
        what = f"{100 * risk.value:.1f} % wrong answers"
    elif loss.perfect == 1.0:  # a score of 1 is perfect, such as AUC or R²
        what = f"1 − {'AUC' if risk.loss == 'auc' else what}"
    return f"a risk of {number(risk.value)} ({what}; {_sure(risk)})"


def _sure(risk: RiskEstimate, *, why: bool = True) -> str:
    if risk.interval is not None:
        low, high = number(risk.interval.low), number(risk.interval.high)
        return f"{100 * risk.interval.confidence_level:g} % interval {low} to {high}"
    if not why or not risk.notes:
        return "no interval"
    return f"no interval, for {clean(risk.notes[-1].rstrip('.'), 200)}"


def _others(found: TestedLearners) -> str:
    """Which learners these rows cannot tell from the best, or how far behind the next one is."""
    known = {
        name: found.difference(name, found.best)
        for name in found.ranking
        if name != found.best and found.risks[name].value is not None
    }
    known = {name: one for name, one in known.items() if one.test != "none"}
    if not known:
        return ""
    alike = {name: one for name, one in known.items() if not one.exceeds_noise}
    if alike:
        listed = ", ".join(
            f"{clean(name, _NAME)} (risk {signed(one.value, _best(found))}, {_within(found, one)})"
            for name, one in alike.items()
        )
        return f"These rows cannot tell it from {listed}."
    name, one = next(iter(known.items()))
    size = unsigned(one.value, _best(found))
    return f"It is ahead of the next, {clean(name, _NAME)}, by {size} ({_within(found, one)})."


def _within(found: TestedLearners, difference: Comparison) -> str:
    """'95 % interval -0.0111 to +0.0191': of the difference."""
    interval = difference.interval
    if interval is None:
        return "no interval"
    low, high = (signed(end, _best(found)) for end in (interval.low, interval.high))
    return f"{100 * interval.confidence_level:g} % interval {low} to {high}"


def _whole_choice(found: TestedLearners) -> str:
    if found.choice is None or found.choice.value is None:
        return ""
    return (
        f"Report {number(found.choice.value)} ({_sure(found.choice, why=False)}): that counts "
        f"the choice among the {len(found.learners)} learners as well."
    )


def _left_out(found: TestedLearners) -> str:
    if not found.missing:
        return ""
    return (
        f"Not assessed, because interrupted: {', '.join(clean(n, _NAME) for n in found.missing)}."
    )
