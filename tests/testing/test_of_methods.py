"""Every check of a method is shown a method that breaks it, and only it, or nearly."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import pytest

from truerisk.core.errors import BadData, FitFailed
from truerisk.methods import KFold
from truerisk.plan.blocks import ALL, RowSets
from truerisk.plan.plan import Plan
from truerisk.testing import NotConforming, check_method, method_checks

SOUND = KFold(4)
WORDS = [check.name for check in method_checks(SOUND)]
# Each begins worker processes: a few doubles are enough to see that faults of others pass them.
ELSEWHERE = {"same_result_in_another_process", "same_result_on_any_executor"}


@dataclass(frozen=True)
class Double(KFold):
    """A method with one fault: it `breaks` one check, and by its nature those in `also`."""

    k: int = 4
    breaks: ClassVar[str] = ""
    also: ClassVar[frozenset[str]] = frozenset()
    raises: ClassVar[type[Exception]] = AssertionError


class Wordless(Double):
    breaks = "says_what_it_estimates"
    word = " "


class OneForAll(Double):
    breaks = "one_estimate_per_candidate"

    def reduce(self, answers, data, loss, setting):
        return super().reduce(answers, data, loss, setting)[:1]


class GlobalDice(Double):
    breaks = "same_seed_same_plan"
    also = frozenset({"same_result_in_another_process", "names_of_classes_do_not_matter"})
    also |= {"takes_read_only_arrays"}

    def plan(self, data, streams):
        folds = np.random.permutation(data.n_rows) % 4  # noqa: NPY002
        return KFold(folds=folds).plan(data, streams)


class ForgetsNoPlan(Double):
    """A plan that was seen before gets another value."""

    breaks = "same_plan_same_result"
    also = frozenset({"same_result_on_any_executor", "order_of_classes_does_not_matter"})
    seen: ClassVar[list] = []

    def reduce(self, answers, data, loss, setting):
        known = any(plan is answers.plan for plan in self.seen)
        self.seen.append(answers.plan)
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, value=t.value / 2) for t in tested] if known else tested


class SeededByProcess(Double):
    breaks = "same_result_in_another_process"

    def plan(self, data, streams):
        return super().plan(data, streams.child(f"process {os.getpid()}"))


class Unsendable(Double):
    """Its plan holds what no other process can be sent."""

    breaks = "same_result_on_any_executor"
    raises = FitFailed  # by the door of all failures

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        object.__setattr__(plan, "drawn_from", (row for row in range(3)))
        return plan


class ReadsNames(Double):
    breaks = "names_of_classes_do_not_matter"

    def plan(self, data, streams):
        return super().plan(data, streams.child(str(data.classes)))


class LikesTheFirstClass(Double):
    breaks = "order_of_classes_does_not_matter"

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        liked = data.codes == 0 if data.codes is not None else ...
        return [replace(t, value=t.losses[liked].mean()) for t in tested]


class LikesLateRows(Double):
    breaks = "order_of_rows_does_not_matter"

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, value=np.average(t.losses, weights=t.loss_rows + 1)) for t in tested]


class Smoothed(Double):
    breaks = "perfect_rule_has_risk_0"

    def reduce(self, answers, data, loss, setting):
        n = data.n_rows
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, value=(t.value * n + 1) / (n + 2)) for t in tested]


class Shifts(Double):
    """The nearest mean stays the nearest."""

    breaks = "X_and_y_stay_as_they_were"
    also = frozenset({"takes_read_only_arrays"})

    def plan(self, data, streams):
        data.X[:, -1] += 1
        return super().plan(data, streams)


class WritesBack(Double):
    breaks = "takes_read_only_arrays"
    raises = ValueError

    def plan(self, data, streams):
        data.X[:] = np.array(data.X)
        return super().plan(data, streams)


class ClearsAnswers(Double):
    breaks = "answers_stay_as_they_were"

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        answers.values[:] = 0
        answers.answered[:] = False
        return tested


class NotesAWarning(Double):
    breaks = "estimates_survive_json"
    raises = TypeError

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, notes=(UserWarning("few rows"),)) for t in tested]


class WideNumbers(Double):
    breaks = "plan_survives_json"
    raises = BadData

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        return replace(plan, fit=plan.fit.astype(np.int64))


class ShortPrint(Plan):
    @property
    def fingerprint(self):
        return f"{self.n_rows} rows, {self.n_fits} fits"


class SharesFingerprints(Double):
    breaks = "fingerprint_changes_with_the_plan"
    also = frozenset({"plan_survives_json"})

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        given = {each.name: getattr(plan, each.name) for each in fields(plan) if each.init}
        return ShortPrint(**given)


class Leaks(Double):
    breaks = "no_fit_is_asked_about_its_own_rows"

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        everything = RowSets(
            np.full(plan.n_fits, ALL, np.int32),
            np.empty(0, np.int32),
            np.zeros(plan.n_fits + 1, np.int64),
        )
        return replace(plan, train=everything)


DOUBLES = Double.__subclasses__()


def run(double: type[Double], name: str) -> None:
    """One check of the double."""
    next(check for check in method_checks(double()) if check.name == name)()


def test_no_check_is_without_a_double():
    """A check that nothing breaks is no check."""
    assert sorted(double.breaks for double in DOUBLES) == sorted(WORDS)


@pytest.mark.parametrize("double", DOUBLES)
def test_a_double_fails_its_check(double):
    """The fault is found by the check that is named after it."""
    with pytest.raises(double.raises):
        run(double, double.breaks)


@pytest.mark.parametrize("double", DOUBLES)
def test_a_double_passes_the_other_checks(double):
    """A check fails for its own reason only; what a fault breaks besides is stated."""
    others = [name for name in WORDS if name != double.breaks and name not in double.also]
    assert len(others) > len(WORDS) / 2
    for name in others:
        if name not in ELSEWHERE or double in DOUBLES[::5]:
            run(double, name)


@pytest.mark.parametrize("double", [double for double in DOUBLES if double.also])
def test_what_a_double_breaks_besides_is_so(double):
    """A check stands in `also` because the double fails it."""
    for name in double.also:
        with pytest.raises((AssertionError, ValueError)):
            run(double, name)


def test_a_method_may_say_that_it_smooths():
    """With `perfect_is_0 = False` a perfect rule may have a risk."""
    saying = type("Saying", (Smoothed,), {"perfect_is_0": False})
    run(saying, Smoothed.breaks)


def test_one_error_names_every_failing_check():
    """`check_method` reports all failing checks at once, with what each establishes."""
    with pytest.raises(NotConforming) as caught:
        check_method(Shifts())
    assert set(caught.value.failures) == {Shifts.breaks, *Shifts.also}
    text = str(caught.value)
    assert text.startswith(f"method '4-fold' does not conform: 2 of {len(WORDS)} checks failed.")
    assert "X_and_y_stay_as_they_were (Neither X nor y nor the class codes are written" in text
    assert "X was written to." in text


def test_every_check_says_what_it_establishes():
    """The docstring of a check is a sentence (that this method passes, its conformance says)."""
    assert all(check.fact.endswith(".") for check in method_checks(SOUND))
