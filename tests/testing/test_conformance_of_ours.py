"""Every method and every engine of the registries conforms; a new line is tested by itself."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold as ScikitKFold
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from truerisk import engines, methods
from truerisk.extend import Family
from truerisk.methods import as_method
from truerisk.models import IntervalClassifier
from truerisk.testing import engine_checks, method_checks
from truerisk.testing.cases import bagged_two_class_case, noisy_line_case, two_class_case
from truerisk.testing.situations import default_families

BOOTSTRAPS = "bootstrap", ".632", ".632+", "optimism"
SMALLER = {  # hundreds of repetitions prove nothing here that a few do not
    **{word: methods.Bootstrap(word, replicates=8) for word in BOOTSTRAPS},
    "ncv": methods.NestedInterval(5, repeats=4),
    "paired-halves": methods.PairedHalves(3, pairs=3, test_share=0.2),
}
WORDS = [SMALLER.get(word, word.replace("K", "4")) for word in methods.names()]
GIVEN = [
    "2x5-fold",
    "reversed 4-fold",
    methods.KFold(folds=np.arange(40) % 3, average="fold"),
    methods.Nested("loo", "4-fold"),
    ScikitKFold(4, shuffle=True, random_state=0),
    ShuffleSplit(3, random_state=0),
    [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))],
    methods.Nested("3-fold", methods.Complete(5)),
    methods.Nested("3-fold", "oob"),
    methods.Bootstrap("oob", replicates=8),
    methods.Swapping(n0=np.inf),
    methods.AIC(per_row=True),
]
# Methods that fit every training set there is need few rows where no closed form is known.
NUMBERS = {"cp", "gcv"}  # those that are stated for regression
IN_SPACE = {"blocks-4", "buffered"}  # those that ask where rows lie
BAGGED = {"oob", "nested (3-fold, inner oob)"}  # those that ask members one by one
FEW = {"complete": 10, "exact-oob": 5, "nested (3-fold, inner complete (m=5))": 10}
# Engines whose own test files do not run the kit, with what they are made for.
FAMILIES = {
    "generic": default_families(),
    "knn": [Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})],
    "interval": [Family.from_grid(IntervalClassifier(), {"k": [1, 2, 4]})],
}
TESTS = Path(__file__).parent.parent
# Checks that begin worker processes: one method for each kind of plan, the others with what waits.
ELSEWHERE = {"same_result_in_another_process", "same_result_on_any_executor"}
KINDS = {"4-fold", "pairs (5-fold)", "holdout", "loo", "complete", "oob", ".632+ (B=8)"}
KINDS |= {"swapping", "bee", "aic", "racing (10-fold)", "nested (loo, inner 4-fold)"}


def case_of(word):
    """The case that a method is checked on."""
    if word in BAGGED:
        return bagged_two_class_case()
    case = noisy_line_case() if word in NUMBERS else two_class_case(FEW.get(word, 40))
    if word not in IN_SPACE:
        return case
    places = np.random.default_rng(3).integers(40, size=(case.data.n_rows, 2)).astype(float)
    return replace(case, data=replace(case.data, block=places))


def checks_of(method):
    """All checks of a method, by its word."""
    for check in method_checks(method, case_of(method.name)):
        waits = check.name in ELSEWHERE and method.name not in KINDS
        marks = pytest.mark.slow if waits else ()
        yield pytest.param(check, id=f"{method.name}-{check}", marks=marks)


METHODS = [as_method(given) for given in [*WORDS, *GIVEN]]
METHOD_CHECKS = [check for method in METHODS for check in checks_of(method)]
ENGINE_CHECKS = [
    pytest.param(check, id=f"{word}-{check}")
    for word, families in FAMILIES.items()
    for check in engine_checks(engines.registry.load(word)(), *families, examples=4)
]


def runs_the_kit(word):
    """Return True if a test file in the room of an engine runs the published checks of it."""
    kind = engines.registry.load(word).__name__
    room = TESTS / Path(*engines.registry[word].module.split(".")[1:]).parent
    for path in room.glob("test_*.py"):
        text = path.read_text("utf-8")
        for name in re.findall(r"\b(?:kit|engine_checks)\(\s*(\w+)", text):
            made = re.search(rf"^.*\b{name}\b.*=.*\b{kind}\(", text, re.MULTILINE)
            if name == kind or made:
                return True
    return False


def test_kinds_of_plans_are_of_methods_here():
    """A word that has changed would leave its kind out of what every change runs."""
    assert {method.name for method in METHODS} >= KINDS


@pytest.mark.parametrize("word", engines.names())
def test_engine_of_the_registry_is_checked_by_its_own_test_file_or_here(word):
    """And not by both: support vectors by their own file, the reference by this one."""
    assert (word in FAMILIES) != runs_the_kit(word)
    assert runs_the_kit("svm")


@pytest.mark.parametrize("check", [*METHOD_CHECKS, *ENGINE_CHECKS])
def test_check_holds_for_ours(check):
    check()
