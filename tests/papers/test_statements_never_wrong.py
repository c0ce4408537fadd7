"""Few replicates may leave a sentence undecided; they never say the opposite of many.

`verdicts.txt` keeps what all replicates say, by `truerisk reproduce WORD --seed 0`: a line for each
sentence, its experiment, its answer and its text.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.papers.conftest import REPLICATES

from truerisk.papers import registry

KNOWN = [
    line.split("\t")
    for line in (Path(__file__).parent / "verdicts.txt").read_text("utf-8").splitlines()
]


def known(word):
    """What all replicates say."""
    return {text: verdict for name, verdict, text in KNOWN if name == word}


@pytest.mark.parametrize("word", REPLICATES)
def test_few_replicates_are_never_wrong(word, draws_of):
    """Those of a test, and three, are undecided or say what a thousand say."""
    draws, answers = draws_of(word), known(word)
    for n in (3, len(next(iter(draws.values())))):
        few = {key: values[:n] for key, values in draws.items()}
        claims = registry.load(word).findings(few).claims
        assert {claim.text for claim in claims} == set(answers)
        for claim in claims:
            sure = all(quantity.replicates is None for quantity in claim.quantities)
            if n < 10 and not sure:
                assert claim.verdict == "undecided", claim
            if "undecided" not in (claim.verdict, answers[claim.text]):
                assert claim.verdict == answers[claim.text], claim


@pytest.mark.parametrize(
    ("word", "verdicts"),
    [
        ("wallman-table-1", "hold undecided hold"),
        ("wallman-posterior", "not not hold"),
        ("wallman-bias", "hold undecided undecided hold"),
        ("kearns-figure-1", "hold hold hold undecided undecided"),
        ("kearns-figure-2", "hold hold hold"),
        ("mehta-three-way", "hold undecided hold hold undecided undecided undecided undecided"),
        ("mehta-rules", "undecided hold not hold hold hold hold hold"),
        ("insa-polynomial", "hold undecided hold"),
        ("insa-bootstrap", "hold hold hold undecided undecided"),
        ("insa-optimism", "hold hold undecided undecided"),
        ("insa-decomposition", "hold hold undecided hold hold"),
        ("aicc-simulation", "hold not"),
    ],
)
def test_what_few_replicates_know_already(word, verdicts, findings_of):
    """Theses of the documents hold, or do not, in a test's few replicates; the rest takes more."""
    words = {"hold": "holds", "not": "does not hold", "undecided": "undecided"}
    claims = findings_of(word).claims
    assert [claim.verdict for claim in claims] == [words[v] for v in verdicts.split()]


def test_every_experiment_has_its_answers():
    """A sentence that is new or reworded is run in full first."""
    assert {word for word, *_ in KNOWN} <= set(registry.names())
    assert {verdict for _, verdict, _ in KNOWN} == {"holds", "does not hold", "undecided"}
