"""Every check of an engine is shown an engine that breaks it, and only it, or nearly."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from truerisk.contracts import Engine
from truerisk.core.family import Family
from truerisk.data.rows import row_keys
from truerisk.engines import Generic
from truerisk.plan.extras.model_facts import Facts, rules_of
from truerisk.testing import NotConforming, check_engine, comparing, engine_checks
from truerisk.testing.brute_force import brute_force
from truerisk.testing.toy_learners import NearestMean

FAMILY = Family.of(NearestMean(), {"rest": [0.0, 1.0]})
FEW = 2


def checks_of(engine: Engine, examples: int = FEW) -> dict:
    """The checks by name, without the family."""
    checks = engine_checks(engine, FAMILY, examples=examples, shrink=False)
    return {check.name.partition("[")[0]: check for check in checks}


WORDS = list(checks_of(Generic()))


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


class Double(Engine):
    """An engine with one fault: it `breaks` one check, and by its nature those in `also`."""

    word = "double"
    breaks: ClassVar[str] = ""
    also: ClassVar[frozenset[str]] = frozenset()
    serves = frozenset({"flips"})
    raises: ClassVar[type[Exception]] = AssertionError

    def refuse(self, family, data, plan, request):
        return None

    def run(self, family, data, plan, request, run):
        """The generic engine's answers to something else, given as answers to the plan."""
        family, data, other, run = self.instead(family, data, plan, run)
        answers = Generic().run(family, data, other, request, run)
        return replace(answers, plan=plan, engine=self.word)

    def instead(self, family, data, plan, run):
        """What is answered instead of what was asked."""
        return family, data, plan, run


def brute(*names: str) -> frozenset[str]:
    """Checks against fitting one by one, and with them the one against the generic engine."""
    return frozenset({f"equals_brute_force_on_{name}" for name in names})


GENERIC = "equals_the_generic_engine"


class RefusesAll(Double):
    breaks = "answers_something"

    def refuse(self, family, data, plan, request):
        return "it is tired."


class LeavesNothingOut(Double):
    breaks = "equals_brute_force_on_folds"
    also = brute("nested_parts", "ties", "weights", "labels", "subsets") | {GENERIC}

    def instead(self, family, data, plan, run):
        train = replace(plan.train, minus=plan.train.minus[:0], offsets=plan.train.offsets * 0)
        return family, data, replace(plan, train=train), run


class OneQuestionPerFit(Double):
    """A second question to a fit is put to the first fit."""

    breaks = "equals_brute_force_on_subsets"
    also = brute("folds", "nested_parts", "labels", "copies", "ties", "weights") | {GENERIC}

    def instead(self, family, data, plan, run):
        first = np.zeros(plan.n_questions, bool)
        first[np.unique(plan.fit, return_index=True)[1]] = True
        return family, data, replace(plan, fit=np.where(first, plan.fit, 0)), run


class ForgetsTheOuterFold(Double):
    """Of the blocks taken away only the last is."""

    breaks = "equals_brute_force_on_nested_parts"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        train = plan.train
        kept = [train.without(fit)[-1:] for fit in range(plan.n_fits)]
        offsets = np.concatenate([[0], np.cumsum([len(minus) for minus in kept])])
        train = replace(train, minus=np.concatenate([*kept, train.minus[:0]]), offsets=offsets)
        return family, data, replace(plan, train=train), run


class IgnoresCopies(Double):
    breaks = "equals_brute_force_on_copies"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        return family, data, replace(plan, blocks=replace(plan.blocks, counts=None)), run


class IgnoresLabels(Double):
    breaks = "equals_brute_force_on_labels"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        return family, data, replace(plan, extra=None), run


class MergesEqualRows(Double):
    """Equal rows are taken for one, with the label of the first."""

    breaks = "equals_brute_force_on_ties"
    also = frozenset({GENERIC})

    def instead(self, family, data, plan, run):
        keys = row_keys(data.X)
        if keys is None:  # all rows differ
            return family, data, plan, run
        _, first, same = np.unique(keys, return_index=True, return_inverse=True)
        return family, replace(data, y=data.y[first][same]), plan, run


class IgnoresWeights(Double):
    breaks = "equals_brute_force_on_weights"

    def instead(self, family, data, plan, run):
        return family, replace(data, fit_params={}), plan, run


class CountsQuestions(Double):
    """It counts a fit for every question."""

    breaks = GENERIC

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        return replace(answers, n_fits=plan.n_questions * answers.n_candidates)


class WideLabels(Double):
    breaks = "answers_as_the_contract_says"
    also = frozenset({"only_is_honoured"})

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        wide = answers.values.astype(np.int64) if request.response == "label" else answers.values
        return replace(answers, values=wide)


class FirstCandidateOnly(Double):
    breaks = "only_is_honoured"

    def instead(self, family, data, plan, run):
        return family, data, plan, run if run.only is None else replace(run, only=run.only * 0)


class AnswersAll(Double):
    """It says that it leaves fits out, and makes them all."""

    leaves_out = True
    breaks = "what_is_not_asked_is_left_out"

    def instead(self, family, data, plan, run):
        return family, data, plan, replace(run, needed=None)


class Rerun(Double):
    """The same question asked again gets another answer."""

    breaks = "same_answers_twice"
    also = frozenset({"same_answers_on_any_executor"})

    def __init__(self):
        self.asked = []

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        question = (family, data, plan, run.only is None)
        again = any(all(a is b for a, b in zip(old, question, strict=True)) for old in self.asked)
        self.asked.append(question)
        return replace(answers, values=1 - answers.values) if again else answers


class OtherElsewhere(Double):
    breaks = "same_answers_on_any_executor"

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        return replace(answers, values=answers.values * 0) if run.executor else answers


class ExpectsAscendingGrids(Double):
    breaks = "order_of_candidates_does_not_matter"

    def instead(self, family, data, plan, run):
        ascending = sorted(family.candidates, key=lambda candidate: candidate["rest"])
        return replace(family, candidates=tuple(ascending)), data, plan, run


class CountsTheVariance(Double):
    """Every model has one degree of freedom more than it says."""

    breaks = "degrees_of_freedom_are_the_models_own"
    serves = frozenset({"flips", "freedom"})

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        facts = Facts.of(answers)
        return answers if facts is None else replace(answers, extra=Facts(facts.freedom + 1))


class TurnsRules(Double):
    """Every rule says the other class, as scores of the first class would."""

    breaks = "linear_rules_are_the_models_own"
    serves = frozenset({"flips", "rules"})

    def run(self, family, data, plan, request, run):
        answers = super().run(family, data, plan, request, run)
        if rules_of(answers) is None:
            return answers
        turned = tuple(replace(r, coefficients=-r.coefficients) for r in rules_of(answers))
        return replace(answers, extra=Facts(rules=turned))


class Scales(Double):
    """Doubling is exact: no label changes."""

    breaks = "X_and_y_stay_as_they_were"
    also = frozenset({"takes_read_only_arrays"})

    def run(self, family, data, plan, request, run):
        if request.response == "label":
            data.X[:] *= 2
        return super().run(family, data, plan, request, run)


class WritesBack(Double):
    breaks = "takes_read_only_arrays"
    raises = ValueError

    def run(self, family, data, plan, request, run):
        data.X[:] = np.array(data.X)
        return super().run(family, data, plan, request, run)


class Mumbles(Double):
    breaks = "refusals_are_sentences"

    def refuse(self, family, data, plan, request):
        return "no scorers" if request.response == "scored" else None


class Moody(Double):
    breaks = "refusals_do_not_waver"

    def __init__(self):
        self.times = 0

    def refuse(self, family, data, plan, request):
        self.times += 1
        return f"Reason number {self.times}." if request.response == "scored" else None


DOUBLES = Double.__subclasses__()


def test_no_check_is_without_a_double():
    """A check that nothing breaks is no check."""
    assert sorted(double.breaks for double in DOUBLES) == sorted(WORDS)


@pytest.mark.parametrize("double", DOUBLES)
def test_a_double_fails_its_check(double):
    """The fault is found by the check that is named after it."""
    with pytest.raises(double.raises):
        checks_of(double(), examples=25)[double.breaks]()


@pytest.mark.parametrize("double", DOUBLES)
def test_a_double_passes_the_other_checks(double):
    """A check fails for its own reason only; what a fault breaks besides is stated."""
    others = [name for name in WORDS if name != double.breaks and name not in double.also]
    assert len(others) > len(WORDS) / 2
    for name in others:
        if name != "same_answers_on_any_executor" or double in DOUBLES[::5]:  # which begins workers
            checks_of(double())[name]()


@pytest.mark.parametrize("error", ["raise", "warn"])
def test_failing_fits_are_compared_too(error):
    """Five neighbours are too many for some training sets, and the brute force says so as well."""
    family = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 5]})
    check_engine(Generic(error=error), family, examples=1)


def test_an_engine_that_hides_a_failing_fit_is_found():
    """Answers made up for a model that raised are wrong."""

    class Hides(Double):
        def run(self, family, data, plan, request, run):
            answers = Generic(error="warn").run(family, data, plan, request, run)
            return replace(answers, answered=answers.answered | True, failures=())

    family = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 5]})
    checks = engine_checks(Hides(), family, shrink=False)
    subsets = next(check for check in checks if "subsets" in check.name)
    with pytest.raises(AssertionError, match="is True, wrongly"):
        subsets()


def test_one_error_names_every_failing_check():
    """`check_engine` reports all failing checks at once, and the family each was run on."""
    with pytest.raises(NotConforming) as caught:
        check_engine(WideLabels(), FAMILY, examples=1)
    names = {"answers_as_the_contract_says[NearestMean]", "only_is_honoured[NearestMean]"}
    assert set(caught.value.failures) == names
    assert "values are int64, not int8." in str(caught.value)


def test_every_check_says_what_it_establishes():
    """The docstring of a check is a sentence."""
    assert all(check.fact.endswith(".") for check in engine_checks(Generic(), FAMILY))
