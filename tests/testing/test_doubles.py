"""Every check is shown an engine or a method that breaks it, and only it, or nearly."""

import os
import pickle
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from truerisk.contracts import Engine
from truerisk.data.rows import row_keys
from truerisk.engines import Generic
from truerisk.exceptions import FitFailed
from truerisk.extend import ALL, BadData, Data, Family, Plan, Refusal
from truerisk.losses import Squared
from truerisk.methods import KFold
from truerisk.plan.blocks import RowSets
from truerisk.plan.extras.model_facts import ModelFactResults, get_linear_rules
from truerisk.testing import (
    Case,
    NotConforming,
    check_engine,
    check_method,
    comparing,
    engine_checks,
    method_checks,
)
from truerisk.testing.brute_force import brute_force
from truerisk.testing.toy_learners import NearestMean

FAMILY = Family.from_grid(NearestMean(), {"rest": [0.0, 1.0]})
SOUND = KFold(4)
# Each begins worker processes: a few doubles are enough to see that faults of others pass them.
ELSEWHERE = {
    "same_answers_on_any_executor",
    "same_result_in_another_process",
    "same_result_on_any_executor",
}


class Fault:
    """A double with one fault `breaks` one check, and by its nature those in `also`."""

    breaks: ClassVar[str] = ""
    also: ClassVar[frozenset[str]] = frozenset()
    raises: ClassVar[type[Exception]] = AssertionError


@pytest.fixture(scope="module", autouse=True)
def _fitted_one_by_one_once():
    """What is drawn does not depend on the double: neither do the fits one by one."""
    known = {}

    def remembered(family, data, plan, request, seed):
        key = pickle.dumps((family, data.X, data.y, data.fit_params, plan.fingerprint, request))
        if key not in known:
            known[key] = brute_force(family, data, plan, request, seed)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "brute_force", remembered)
        yield


# ---------------- engines


class EngineDouble(Fault, Engine):
    """An engine with a fault."""

    name = "double"
    serves = frozenset({"flips"})

    def refuse(self, family, data, plan, request):
        return None

    def run(self, family, data, plan, request, run):
        """The generic engine's answers to something else, given as answers to the plan."""
        family, data, other, run = self.instead(family, data, plan, run)
        answers = Generic().run(family, data, other, request, run)
        return replace(answers, plan=plan, engine=self.name)

    def instead(self, family, data, plan, run):
        """What is answered instead of what was asked."""
        return family, data, plan, run


def brute(*names):
    """Checks against fitting one by one, and with them the one against the generic engine."""
    return frozenset({f"equals_brute_force_on_{name}" for name in names})


GENERIC = "equals_the_generic_engine"


class RefusesAll(EngineDouble):
    breaks = "answers_something"

    def refuse(self, family, data, plan, request):
        return "it is tired."


class LeavesNothingOut(EngineDouble):
    breaks = "equals_brute_force_on_folds"
    also = brute("nested_parts", "ties", "weights", "labels", "subsets") | {GENERIC}

    def instead(self, family, data, plan, run):
        train = replace(
            plan.train, removed_blocks=plan.train.removed_blocks[:0], offsets=plan.train.offsets * 0
        )
        return family, data, replace(plan, train=train), run


class OneQuestionPerFit(EngineDouble):
    """A second question to a fit is put to the first fit."""

    breaks = "equals_brute_force_on_subsets"
    also = brute("folds", "nested_parts", "labels", "copies", "ties", "weights") | {GENERIC}

    def instead(self, family, data, plan, run):
        first = np.zeros(plan.n_questions, bool)
        first[np.unique(plan.fit, return_index=True)[1]] = True
        return family, data, replace(plan, fit=np.where(first, plan.fit, 0)), run


class ForgetsTheOuterFold(EngineDouble):
    """Of the blocks taken away only the last is."""

    breaks = "equals_brute_force_on_nested_parts"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        train = plan.train
        kept = [train.get_removed_blocks(fit)[-1:] for fit in range(plan.n_fits)]
        offsets = np.concatenate([[0], np.cumsum([len(minus) for minus in kept])])
        train = replace(
            train, removed_blocks=np.concatenate([*kept, train.removed_blocks[:0]]), offsets=offsets
        )
        return family, data, replace(plan, train=train), run


class IgnoresCopies(EngineDouble):
    breaks = "equals_brute_force_on_copies"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        return family, data, replace(plan, blocks=replace(plan.blocks, counts=None)), run


class IgnoresLabels(EngineDouble):
    breaks = "equals_brute_force_on_labels"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        return family, data, replace(plan, extra=None), run


class MergesEqualRows(EngineDouble):
    """Equal rows are taken for one, with the label of the first."""

    breaks = "equals_brute_force_on_ties"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        keys = row_keys(data.X)
        if keys is None:  # all rows differ
            return family, data, plan, run
        _, first, same = np.unique(keys, return_index=True, return_inverse=True)
        return family, replace(data, y=data.y[first][same]), plan, run


class IgnoresWeights(EngineDouble):
    breaks = "equals_brute_force_on_weights"

    def instead(self, family, data, plan, run):
        return family, replace(data, fit_params={}), plan, run


class CountsQuestions(EngineDouble):
    """It counts a fit for every question."""

    breaks = GENERIC

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        return replace(answers, n_fits=plan.n_questions * answers.n_candidates)


class WideLabels(EngineDouble):
    breaks = "answers_as_the_contract_says"
    also = frozenset({"only_is_honoured"})

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        wide = answers.values.astype(np.int64) if request.response == "label" else answers.values
        return replace(answers, values=wide)


class FirstCandidateOnly(EngineDouble):
    breaks = "only_is_honoured"

    def instead(self, family, data, plan, run):
        return (
            family,
            data,
            plan,
            run
            if run.candidate_by_fit is None
            else replace(run, candidate_by_fit=run.candidate_by_fit * 0),
        )


class AnswersAll(EngineDouble):
    """It says that it leaves fits out, and makes them all."""

    leaves_out = True
    breaks = "unrequested_answers_are_left_out"

    def instead(self, family, data, plan, run):
        return family, data, plan, replace(run, is_needed=None)


class Rerun(EngineDouble):
    """The same question asked again gets another answer."""

    breaks = "same_answers_twice"
    also = frozenset({"same_answers_on_any_executor"})

    def __init__(self):
        self.asked = []

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        question = (family, data, plan, run.candidate_by_fit is None)
        again = any(all(a is b for a, b in zip(old, question, strict=True)) for old in self.asked)
        self.asked.append(question)
        return replace(answers, values=1 - answers.values) if again else answers


class OtherElsewhere(EngineDouble):
    breaks = "same_answers_on_any_executor"

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        return replace(answers, values=answers.values * 0) if run.executor else answers


class ExpectsAscendingGrids(EngineDouble):
    breaks = "order_of_candidates_does_not_matter"

    def instead(self, family, data, plan, run):
        ascending = sorted(family.candidates, key=lambda candidate: candidate["rest"])
        return replace(family, candidates=tuple(ascending)), data, plan, run


class CountsTheVariance(EngineDouble):
    """Every model has one degree of freedom more than it says."""

    breaks = "degrees_of_freedom_are_the_models_own"
    serves = frozenset({"flips", "freedom"})

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        facts = ModelFactResults.from_holder(answers)
        return (
            answers
            if facts is None
            else replace(answers, extra=ModelFactResults(facts.freedom + 1))
        )


class TurnsRules(EngineDouble):
    """Every rule says the other class, as scores of the first class would."""

    breaks = "linear_rules_are_the_models_own"
    serves = frozenset({"flips", "rules"})

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        if get_linear_rules(answers) is None:
            return answers
        turned = tuple(replace(r, coefficients=-r.coefficients) for r in get_linear_rules(answers))
        return replace(answers, extra=ModelFactResults(rules=turned))


class Scales(EngineDouble):
    """Doubling is exact: no label changes."""

    breaks = "X_and_y_stay_as_they_were"
    also = frozenset({"takes_read_only_arrays"})

    def run(self, family, data, plan, request, run):
        if request.response == "label":
            data.X[:] *= 2
        return super().run(family, data, plan, request, run)


class EngineWritesBack(EngineDouble):
    breaks = "takes_read_only_arrays"
    raises = ValueError

    def run(self, family, data, plan, request, run):
        data.X[:] = np.array(data.X)
        return super().run(family, data, plan, request, run)


class Mumbles(EngineDouble):
    breaks = "refusals_are_sentences"

    def refuse(self, family, data, plan, request):
        return "no scorers" if request.response == "scored" else None


class Moody(EngineDouble):
    breaks = "refusals_do_not_waver"

    def __init__(self):
        self.times = 0

    def refuse(self, family, data, plan, request):
        self.times += 1
        return f"Reason number {self.times}." if request.response == "scored" else None


# ---------------- methods


@dataclass(frozen=True)
class MethodDouble(Fault, KFold):
    """A method with a fault."""

    k: int = 4


class Wordless(MethodDouble):
    breaks = "says_what_it_estimates"
    name = " "


class OneForAll(MethodDouble):
    breaks = "one_estimate_per_candidate"

    def reduce(self, answers, data, loss, setting):
        return super().reduce(answers, data, loss, setting)[:1]


class GlobalDice(MethodDouble):
    breaks = "same_seed_same_plan"
    also = frozenset({"same_result_in_another_process", "names_of_classes_do_not_matter"})
    also |= {"takes_read_only_arrays"}

    def plan(self, data, streams):
        folds = np.random.permutation(data.n_rows) % 4  # noqa: NPY002
        return KFold(folds=folds).plan(data, streams)


class ForgetsNoPlan(MethodDouble):
    """A plan that was seen before gets another value."""

    breaks = "same_plan_same_result"
    also = frozenset({"same_result_on_any_executor", "order_of_classes_does_not_matter"})
    seen: ClassVar[list] = []

    def reduce(self, answers, data, loss, setting):
        known = any(plan is answers.plan for plan in self.seen)
        self.seen.append(answers.plan)
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, value=t.value / 2) for t in tested] if known else tested


class SeededByProcess(MethodDouble):
    breaks = "same_result_in_another_process"

    def plan(self, data, streams):
        return super().plan(data, streams.child(f"process {os.getpid()}"))


class Unsendable(MethodDouble):
    """Its plan holds what no other process can be sent."""

    breaks = "same_result_on_any_executor"
    raises = FitFailed  # by the door of all failures

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        object.__setattr__(plan, "drawn_from", (row for row in range(3)))
        return plan


class ReadsNames(MethodDouble):
    breaks = "names_of_classes_do_not_matter"

    def plan(self, data, streams):
        return super().plan(data, streams.child(str(data.classes)))


class LikesTheFirstClass(MethodDouble):
    breaks = "order_of_classes_does_not_matter"

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        liked = data.codes == 0 if data.codes is not None else ...
        return [replace(t, value=t.losses[liked].mean()) for t in tested]


class LikesLateRows(MethodDouble):
    breaks = "order_of_rows_does_not_matter"

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, value=np.average(t.losses, weights=t.loss_rows + 1)) for t in tested]


class Smoothed(MethodDouble):
    breaks = "perfect_rule_has_risk_0"

    def reduce(self, answers, data, loss, setting):
        n = data.n_rows
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, value=(t.value * n + 1) / (n + 2)) for t in tested]


class Shifts(MethodDouble):
    """The nearest mean stays the nearest."""

    breaks = "X_and_y_stay_as_they_were"
    also = frozenset({"takes_read_only_arrays"})

    def plan(self, data, streams):
        data.X[:, -1] += 1
        return super().plan(data, streams)


class WritesBack(MethodDouble):
    breaks = "takes_read_only_arrays"
    raises = ValueError

    def plan(self, data, streams):
        data.X[:] = np.array(data.X)
        return super().plan(data, streams)


class ClearsAnswers(MethodDouble):
    breaks = "answers_stay_as_they_were"

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        answers.values[:] = 0
        answers.answered[:] = False
        return tested


class NotesAWarning(MethodDouble):
    breaks = "estimates_survive_json"
    raises = TypeError

    def reduce(self, answers, data, loss, setting):
        tested = super().reduce(answers, data, loss, setting)
        return [replace(t, notes=(UserWarning("few rows"),)) for t in tested]


class WideNumbers(MethodDouble):
    breaks = "plan_survives_json"
    raises = BadData

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        return replace(plan, fit=plan.fit.astype(np.int64))


class ShortPrint(Plan):
    @property
    def fingerprint(self):
        return f"{self.n_rows} rows, {self.n_fits} fits"


class SharesFingerprints(MethodDouble):
    breaks = "fingerprint_changes_with_the_plan"
    also = frozenset({"plan_survives_json"})

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        given = {each.name: getattr(plan, each.name) for each in fields(plan) if each.init}
        return ShortPrint(**given)


class Leaks(MethodDouble):
    breaks = "no_fit_predicts_its_own_rows"

    def plan(self, data, streams):
        plan = super().plan(data, streams)
        everything = RowSets(
            np.full(plan.n_fits, ALL, np.int32),
            np.empty(0, np.int32),
            np.zeros(plan.n_fits + 1, np.int64),
        )
        return replace(plan, train=everything)


# ---------------- the checks

ENGINES, METHODS = EngineDouble.__subclasses__(), MethodDouble.__subclasses__()


def checks_of(tested, examples=2):
    """The checks of an engine or of a method by name, without the family."""
    if isinstance(tested, Engine):
        checks = engine_checks(tested, FAMILY, examples=examples, shrink=False)
    else:
        checks = method_checks(tested)
    return {check.name.partition("[")[0]: check for check in checks}


@pytest.mark.parametrize(
    ("tested", "doubles"), [(Generic(), ENGINES), (SOUND, METHODS)], ids=["engines", "methods"]
)
def test_check_has_a_double_and_says_what_it_establishes(tested, doubles):
    """A check that nothing breaks is no check."""
    checks = checks_of(tested)
    assert sorted(double.breaks for double in doubles) == sorted(checks)
    assert all(check.fact.endswith(".") for check in checks.values())


@pytest.mark.parametrize("double", [*ENGINES, *METHODS])
def test_double_fails_the_check_named_after_its_fault_alone(double):
    """What a fault breaks besides is stated, and is so of methods."""
    doubles = ENGINES if double in ENGINES else METHODS
    with pytest.raises(double.raises):
        checks_of(double(), examples=25)[double.breaks]()
    if doubles is METHODS:
        for name in double.also:
            with pytest.raises((AssertionError, ValueError)):
                checks_of(double())[name]()
    others = set(checks_of(double())) - {double.breaks} - double.also
    assert len(others) > len(checks_of(double())) / 2
    for name in others:
        if name not in ELSEWHERE or double in doubles[::5]:
            checks_of(double())[name]()


@pytest.mark.parametrize("error", ["raise", "warn"])
def test_check_engine_compares_failing_fits(error):
    """Five neighbours are too many for some training sets; the brute force says so as well."""
    family = Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 5]})
    check_engine(Generic(error=error), family, examples=1)


def test_check_engine_finds_an_engine_that_hides_a_failing_fit():
    class Hides(EngineDouble):
        def run(self, family, data, plan, request, run):
            answers = Generic(error="warn").run(family, data, plan, request, run)
            return replace(answers, answered=answers.answered | True, failures=())

    family = Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 5]})
    checks = engine_checks(Hides(), family, shrink=False)
    subsets = next(check for check in checks if "subsets" in check.name)
    with pytest.raises(AssertionError, match="is True, wrongly"):
        subsets()


def test_check_method_lets_a_method_say_that_it_smooths():
    """With `perfect_is_0 = False` a perfect rule may have a risk."""
    saying = type("Saying", (Smoothed,), {"perfect_is_0": False})
    checks_of(saying())[Smoothed.breaks]()


def test_check_engine_and_check_method_name_every_failing_check():
    """With what each establishes, and of an engine the family it was run on."""
    with pytest.raises(NotConforming) as caught:
        check_engine(WideLabels(), FAMILY, examples=1)
    names = {"answers_as_the_contract_says[NearestMean]", "only_is_honoured[NearestMean]"}
    assert set(caught.value.failures) == names
    assert "values are int64, not int8." in str(caught.value)
    with pytest.raises(NotConforming) as caught:
        check_method(Shifts())
    assert set(caught.value.failures) == {Shifts.breaks, *Shifts.also}
    n_checks, text = len(checks_of(SOUND)), str(caught.value)
    assert text.startswith(f"method '4-fold' does not conform: 2 of {n_checks} checks failed.")
    assert "X_and_y_stay_as_they_were (Check that neither X nor y" in text
    assert "X was written to." in text


class NumbersOnly(KFold):
    """A method for regression."""

    def check(self, data, loss):
        if data.task == "classification":
            raise Refusal("this method knows numbers only.")


def test_check_method_takes_a_case_of_its_own():
    """A method that refuses the usual data does not conform by that: checks of classes pass."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    data = Data.check(X, X.sum(axis=1) + rng.standard_normal(40), task="regression")
    case = Case(Family.from_grid(Ridge(), {"alpha": [0.1, 1.0]}), data, Squared())
    for check in method_checks(NumbersOnly(4), case):
        if check.name not in ELSEWHERE:
            check()
    with pytest.raises(NotConforming, match="this method knows numbers only"):
        check_method(NumbersOnly(4))
