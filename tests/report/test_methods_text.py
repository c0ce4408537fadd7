"""The methods paragraph names what was done, and what makes it again."""

import copy
import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.formats import format_number
from truerisk.report.methods_text import (
    REFERENCES,
    assessment_references,
    methods_paragraph,
    reproduction_info,
)

BOTH = [REFERENCES["nested"], REFERENCES["cv"]]


def test_described_has_the_numbers(found):
    """Rows, learners, methods, risk with interval, constant answer, versions, seed."""
    text = methods_paragraph(found)
    wanted = [
        "3 learners on 40 rows",
        "knn (3 settings)",
        "bayes (one setting)",
        "outer 4-fold cross-validation, inner 3-fold cross-validation",
        f"an estimated misclassification rate of {format_number(found.risks[found.best].value)}",
        f"95 % interval {format_number(found.choice.interval.low)}",
        f"the most frequent class was {format_number(found.baseline)}",
        "seed 0",
    ]
    assert [part for part in wanted if part not in text] == []


def with_interval(content, word):
    """The assessment whose intervals have another word."""
    changed = copy.deepcopy({**content, "roc": None})
    for estimate in (changed["choice"], *(one["risk"] for one in changed["learners"].values())):
        estimate["interval"]["method"] = word
    return changed


@pytest.mark.parametrize("grouped", ["", "-grouped"])
@pytest.mark.parametrize("word", tr.intervals.names())
def test_references_hold_that_of_the_interval(content, word, grouped):
    """That of its form, grouped or not; a calibrated one says what no reference has."""
    changed = with_interval(content, word + grouped)
    document, form = tr.Assessment.from_dict(changed), tr.intervals.as_form(word)
    assert assessment_references(document) == [*BOTH, form.reference]
    assert re.search(r"\b[A-Z]\w+ \w+.*\((19|20)\d\d\)\. ", form.reference)
    assert (form.caution in methods_paragraph(document)) or not form.caution
    said = "by 1.8 because training sets overlap, or by 1.0 to 2.5 if fits without a further fold"
    assert (said in methods_paragraph(document)) == (word in ("beta-cv", "log-cv", "logit-cv"))
    other = tr.Assessment.from_dict({**changed, "rule": "1-se"})
    assert REFERENCES["1-se"] in assessment_references(other)


def test_references_of_intervals_name_their_authors(content):
    """No estimator is unbiased, say Bengio et al.; an unknown word has none, and is shown."""
    authors = {
        "ncv": "Bates S",
        "beta-ncv": "Bates S",
        "log-cv": "Bengio Y",
        "bbc": "Tsamardinos I",
    }
    for word, author in authors.items():
        assert tr.intervals.as_form(word).reference.startswith(author)
    unknown = tr.Assessment.from_dict(with_interval(content, "to-come-grouped"))
    assert assessment_references(unknown) == BOTH


def test_described_of_one_learner_compares_nothing(content):
    one = copy.deepcopy(content)
    one["learners"] = {one["best"]: one["learners"][one["best"]]}
    one["choice"] = None
    text = methods_paragraph(tr.Assessment.from_dict(one))
    assert text.startswith("On 40 rows we tested ")
    assert "With the choice among learners" not in text


def test_repeat_is_the_command_or_the_function(content, found):
    typed = {**content, "command": "truerisk assess a.csv --target y"}
    assert reproduction_info(tr.Assessment.from_dict(typed)).call == typed["command"]
    called = reproduction_info(found)
    assert "cv=['3-fold', 'loo'], outer='4-fold'" in called.call
    facts = dict(called.facts)
    assert facts["seed"] == "0"
    assert facts["data fingerprint"] == found.risks["knn"].data_fingerprint
    older = {name: value for name, value in content.items() if name != "given"}
    assert "groups" not in reproduction_info(tr.Assessment.from_dict(older)).call


def test_repeat_run_as_it_is_printed_gives_the_same_numbers():
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
    call = reproduction_info(tr.Assessment.from_dict(found.to_dict())).call
    assert "scoring=['squared', 'absolute']" in call
    assert "validate={'subgroups': {'half': half}}" in call
    typed = call.partition("\n")[2]
    again = eval(typed, {"tr": tr, "X": X, "y": y, "learners": {"ridge": Ridge()}, **known})
    assert again.risks["ridge"].value == found.risks["ridge"].value
    assert again.risks["ridge"].data_fingerprint == found.risks["ridge"].data_fingerprint
    assert str(again.validation.subgroups) == str(found.validation.subgroups)
