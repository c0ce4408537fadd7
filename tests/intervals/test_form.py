"""An interval is held to what it declares, in one place, by a sentence that says who lacks what."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.contracts import Streams, Terms
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.intervals.choice import gives, offered
from truerisk.intervals.form import Evidence, IntervalForm
from truerisk.losses.loss_words import as_loss
from truerisk.methods import as_method
from truerisk.results.interval import Basis
from truerisk.selection.rules import Minimum

N = 20
X = np.arange(2.0 * N).reshape(N, 2)
Y = np.arange(N) % 2
CLASSES = Data.check(X, Y, task="classification")
WEIGHTED = Data.check(X, Y, task="classification", sample_weight=np.arange(N) + 1.0)
PLACED = Data.check(X, Y, task="classification", block=X)
NUMBERS = Data.check(X, X[:, 0], task="regression")
CASES = {
    "zero-one": (CLASSES, as_loss("zero-one", CLASSES)),
    "log": (CLASSES, as_loss("log", CLASSES)),
    "auc": (CLASSES, as_loss("auc", CLASSES)),
    "f1_micro": (CLASSES, as_loss("f1_micro", CLASSES)),
    "weighted": (WEIGHTED, as_loss("zero-one", WEIGHTED)),
    "signed": (NUMBERS, as_loss(lambda y, f: y - f, NUMBERS)),
}
LACKING = {
    Basis.ROW_LOSSES: {"auc", "f1_micro"},
    Basis.INFLUENCES: {"f1_micro"},
    Basis.UPPER_BOUND: {"log", "signed", "f1_micro"},
    Basis.NEVER_NEGATIVE: {"signed"},
    Basis.ERROR_COUNT: {"log", "auc", "signed", "f1_micro"},
    Basis.EQUAL_ROWS: {"weighted"},
    Basis.PLACES: set(CASES),
}
METHODS = [
    *(
        as_method("2x5-fold" if word == "K-fold" else word.replace("K", "5"))
        for word in tr.methods.names()
    ),
    as_method("reversed 4-fold"),
    tr.methods.Bootstrap("oob"),
]


def plan_of(method):
    """What the method draws of rows at places."""
    return method.plan(PLACED, Streams(0))


def form_that_needs(*needs):
    """An interval that needs these, and says how to have the n-th."""

    class Toy(IntervalForm[Evidence]):
        word = "toy"
        reference = ""

        def of(self, evidence, c):
            return float(evidence.values[c]), None, ()

    Toy.needs = {need: f"remedy {number}" for number, need in enumerate(needs)}
    return Toy()


def refusal_of(act):
    """What is said against it; nothing where nothing is."""
    try:
        act()
    except Refusal as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize("need", Basis, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_a_loss_or_a_table_lacks_what_it_cannot_give(need, case):
    """Refused before anything is drawn, with the need, who lacks it and the remedy; else passed."""
    data, loss = CASES[case]
    said = refusal_of(lambda: form_that_needs(need).check(data, loss))
    of_data = {Basis.EQUAL_ROWS: "data with sample_weight", Basis.PLACES: "data without block="}
    who = of_data.get(need, f"loss '{loss.word}'")
    sentence = f"interval 'toy' needs {need.value}, which {who} cannot give: remedy 0."
    assert said == (sentence if case in LACKING.get(need, ()) else "")


@pytest.mark.parametrize("need", Basis, ids=str)
def test_every_basis_is_given_by_someone_and_lacked_by_someone(need):
    """No need is idle: a loss or a table lacks it, or some methods give it and others do not."""
    giving = [need in gives(method, PLACED, plan_of(method)) for method in METHODS]
    assert (any(giving) and not all(giving)) == (need not in LACKING)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.word)
def test_a_method_offers_what_it_gives_all_the_needs_of(method):
    """The words of the registry whose needs of answers are a part of what it gives."""
    of_answers = {
        word: {need for need in tr.intervals.as_form(word).needs if need not in LACKING}
        for word in tr.intervals.names()
    }
    if method.respects_time:  # losses that depend on those before them
        of_answers = {"hac": of_answers["hac"]}
    given = gives(method, PLACED, plan := plan_of(method))
    words = [word for word, needs in of_answers.items() if needs <= given]
    assert offered(method, PLACED, plan) == words


def test_the_first_need_that_is_lacking_is_said():
    """In the order in which the interval declares them."""
    form = form_that_needs(Basis.LOSSES, Basis.HALVES, Basis.PAIRS)
    assert form.lacking({Basis.LOSSES}) is Basis.HALVES
    assert "halves of the rows, which it cannot give: remedy 1." in refusal_of(
        lambda: form.require({Basis.LOSSES}, "it")
    )


def test_candidates_without_a_value_have_no_interval():
    """Their neighbours have."""
    given = {"loss": CASES["log"][1], "terms": Terms(0.95, Minimum())}
    evidence = Evidence(values=np.array([0.5, np.nan]), **given)
    assert form_that_needs().of_each(evidence) == [(0.5, None, ()), (None, None, ())]


@pytest.mark.parametrize("word", tr.intervals.names())
def test_every_form_declares_itself(word):
    """Its word, a remedy for each need, and where it was published."""
    form = tr.intervals.as_form(word)
    assert form.word == word
    assert set(form.needs) - set(LACKING)
    assert all(form.needs.values())
    assert form.reference.endswith(".")
