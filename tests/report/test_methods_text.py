"""The methods paragraph names what was done, and what makes it again."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.formats import number
from truerisk.report.methods_text import (
    REFERENCES,
    described,
    reference_of,
    references,
    repeat,
)

BOTH = [REFERENCES["nested"], REFERENCES["cv"]]


def test_the_paragraph_has_the_numbers(content, found):
    """Rows, learners, methods, risk with interval, constant answer, versions, seed."""
    text = described(tr.Assessment.from_dict(content))
    wanted = [
        "3 learners on 40 rows",
        "knn (3 settings)",
        "bayes (one setting)",
        "outer 4-fold cross-validation, inner 3-fold cross-validation",
        f"an estimated risk of {number(found.risks[found.best].value)}",
        f"95 % interval {number(found.choice.interval.low)}",
        f"the commonest class was {number(found.baseline)}",
        "seed 0",
    ]
    assert [part for part in wanted if part not in text] == []


def test_references_follow_what_was_used(content):
    """Wald's interval and the one-standard-error rule bring theirs, and no others do."""
    changed = copy.deepcopy(content)
    for estimate in (changed["choice"], *(one["risk"] for one in changed["learners"].values())):
        estimate["interval"]["method"] = "wald-grouped"
    document = tr.Assessment.from_dict(changed)
    wald = tr.intervals.as_form("wald").reference
    assert references(document) == [*BOTH, wald]
    other = tr.Assessment.from_dict({**content, "rule": "1-se", "roc": None})
    assert REFERENCES["1-se"] in references(other)


@pytest.mark.parametrize("grouped", ["", "-grouped"])
@pytest.mark.parametrize("word", tr.intervals.names())
def test_every_interval_has_its_reference(content, word, grouped):
    """That of its form, grouped or not; a calibrated one says what no reference has."""
    changed = copy.deepcopy({**content, "roc": None})
    for estimate in (changed["choice"], *(one["risk"] for one in changed["learners"].values())):
        estimate["interval"]["method"] = word + grouped
    document, form = tr.Assessment.from_dict(changed), tr.intervals.as_form(word)
    assert references(document) == [*BOTH, form.reference]
    assert re.search(r"\b[A-Z]\w+ \w+.*\((19|20)\d\d\)\. ", form.reference)
    assert (form.caution in described(document)) or not form.caution
    said = "calibrated by simulation: 1.8, or 1 to 2.5 where fits without a further fold"
    assert (said in described(document)) == (word in ("beta-cv", "log-cv", "logit-cv"))


@pytest.mark.parametrize(
    ("word", "author"),
    [("ncv", "Bates S"), ("beta-ncv", "Bates S"), ("log-cv", "Bengio Y"), ("bbc", "Tsamardinos I")],
)
def test_references_are_those_of_the_formula(word, author):
    """Nested cross-validation is of Bates et al.; no estimator is unbiased, say Bengio et al."""
    assert tr.intervals.as_form(word).reference.startswith(author)


def test_an_interval_of_another_version_has_no_reference():
    """A page of a result with a word that this version does not know is still shown."""
    assert reference_of("to-come-grouped") == ""


def test_one_learner_is_no_comparison(content):
    """Nothing is compared where there is one learner."""
    one = copy.deepcopy(content)
    one["learners"] = {one["best"]: one["learners"][one["best"]]}
    one["choice"] = None
    text = described(tr.Assessment.from_dict(one))
    assert text.startswith("On 40 rows we tested ")
    assert "With the choice among learners" not in text


def test_the_call_is_the_command_or_the_function(content, found):
    """What was typed where that is known, else `tr.assess` with its arguments."""
    typed = repeat(
        tr.Assessment.from_dict({**content, "command": "truerisk assess a.csv --target y"})
    )
    assert typed.call == "truerisk assess a.csv --target y"
    called = repeat(tr.Assessment.from_dict(content)).call
    assert "cv=['3-fold', 'loo'], outer='4-fold'" in called
    facts = dict(repeat(tr.Assessment.from_dict(content)).facts)
    assert facts["seed"] == "0"
    assert facts["data fingerprint"] == found.risks["knn"].data_fingerprint


def test_the_call_run_as_it_is_printed_gives_the_same_numbers():
    """What belongs to the rows and what was asked besides stand in it, arrays by their names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    known = {"time": np.arange(80), "sample_weight": rng.random(80), "half": np.arange(80) % 2}
    found = tr.assess(
        {"ridge": Ridge()},
        X,
        y,
        time=known["time"],
        sample_weight=known["sample_weight"],
        scoring=["squared", "absolute"],
        validate={"subgroups": {"half": known["half"]}},
    )
    call = repeat(tr.Assessment.from_dict(found.to_dict())).call
    assert "scoring=['squared', 'absolute']" in call
    assert "validate={'subgroups': {'half': half}}" in call
    typed = call.partition("\n")[2]
    again = eval(typed, {"tr": tr, "X": X, "y": y, "learners": {"ridge": Ridge()}, **known})
    assert again.risks["ridge"].value == found.risks["ridge"].value
    assert again.risks["ridge"].data_fingerprint == found.risks["ridge"].data_fingerprint
    assert str(again.validation.subgroups) == str(found.validation.subgroups)


def test_a_page_of_an_earlier_version_has_the_call_that_it_had(content):
    """Which says nothing of rows."""
    older = {name: value for name, value in content.items() if name != "given"}
    assert "groups" not in repeat(tr.Assessment.from_dict(older)).call
