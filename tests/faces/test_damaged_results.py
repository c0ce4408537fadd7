"""Stored results of every kind, damaged at every place: a sentence, or a result that is shown."""

import json

import numpy as np
import pytest
from tests.adversary.damage import EDITS, KINDS_OF_RESULTS, damage_wrong, places, stored

N_DRAWN = 60
N_SLOW = 120
NAMED = {
    "a first risk of 3.5e9, whose law was never told": (
        "learning curve",
        ("estimates", 0, "value"),
        "is 3500000000.0",
    ),
    "a risk of 9e15": ("learning curve", ("estimates", 7, "value"), "is 9007199254740992"),
    "a covariance of one": ("learning curve", ("covariance", 0, 7), "is 1"),
    "a variance of 0": ("learning curve", ("covariance", 7, 7), "is 0"),
    "no risk where there is a law": ("learning curve", ("estimates", 4, "value"), "is null"),
    "an infinite observed risk": ("permutations", ("observed",), "is inf"),
    "an infinite permuted risk": ("permutations", ("null", 4), "is inf"),
    "an infinite difference": ("5x2", ("difference",), "is -inf"),
    "a level of infinite risk": (
        "validation",
        ("subgroups", "risks", 1, "levels", 1, "value"),
        "is inf",
    ),
    "an update without its Brier score": (
        "validation of a finished model",
        ("updating", "updates", 1, "brier"),
        "is null",
    ),
    "a prior that is none": ("plan of one error", ("prior", 0), "is -0.25"),
    "infinitely many events": ("rows to develop", ("events",), "is inf"),
    "a task that failed without a word": ("status of a study", ("errors", 0), "is an empty object"),
    "more test rows than there are": ("plan of one error", ("n_test",), "is 9007199254740992"),
    "more errors than test rows": ("plan of one error", ("n_errors",), "is 9007199254740992"),
    "no positive rows": ("operating point", ("n_positive",), "is 0"),
    "no negative rows": ("operating point", ("n_negative",), "is 0"),
    "a perfect score that is no number": ("permutations", ("perfect",), "is nan"),
    "a perfect score beside which risks vanish": (
        "permutations",
        ("perfect",),
        "is -4611686018427387904",
    ),
    "fewer rows than were trained on": ("learning curve", ("estimates", 7, "n_rows"), "is 1"),
    "probabilities without a rope": ("paired-cv", ("rope",), "is dropped"),
    "cells of a study without seconds": ("study", ("cells", 0, "seconds"), "is null"),
    "a row of 64 bits and one": ("estimate", ("loss_rows", 25), "is 9223372036854775808"),
}


@pytest.mark.parametrize("what", NAMED)
def test_from_json_refuses_named_damage(what):
    kind, path, edit = NAMED[what]
    assert path in places(json.loads(stored(kind)[1])) or path[-2:] == ("loss_rows", 25)
    assert not damage_wrong(kind, ((path, edit),))


def edits_by_place(kind: str) -> list[tuple[tuple[str | int, ...], str]]:
    """List every edit of every place; entries of lists of one form count once."""
    known = {}
    for path in places(json.loads(stored(kind)[1])):
        known.setdefault(tuple(part if isinstance(part, str) else 0 for part in path), path)
    return [(path, edit) for path in known.values() for edit in EDITS]


@pytest.mark.parametrize("kind", KINDS_OF_RESULTS)
def test_from_json_is_a_sentence_or_a_result_that_is_shown(kind):
    every = edits_by_place(kind)
    rng = np.random.default_rng(len(kind))
    drawn = rng.choice(len(every), size=min(N_DRAWN, len(every)), replace=False)
    found = {every[i]: damage_wrong(kind, (every[i],)) for i in drawn.tolist()}
    assert not {edit: wrong for edit, wrong in found.items() if wrong}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS_OF_RESULTS)
def test_from_json_withstands_more_damage(kind):
    every = edits_by_place(kind)
    drawn = np.random.default_rng(1).choice(len(every), size=min(N_SLOW, len(every)), replace=False)
    found = {every[i]: damage_wrong(kind, (every[i],)) for i in drawn.tolist()}
    assert not {edit: wrong for edit, wrong in found.items() if wrong}
