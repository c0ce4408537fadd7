"""Few replicates may leave a sentence undecided; they never say the opposite of many.

`verdicts.txt` keeps what all replicates say, by `truerisk reproduce WORD --seed 0`: a line for each
sentence, its experiment, its answer and its text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from truerisk.papers import registry
from truerisk.papers.running import draw_replicates

KNOWN = [
    line.split("\t")
    for line in (Path(__file__).parent / "verdicts.txt").read_text("utf-8").splitlines()
]
SECONDS = (  # those whose `--quick` takes seconds, and how many replicates are drawn of others
    "wallman-table-1",
    "wallman-figure-4",
    "wallman-posterior",
    "wallman-figure-1",
    "wallman-bias",
    "kearns-figure-1",
    "kearns-figure-2",
    "mehta-three-way",
    "mehta-rules",
    "insa-polynomial",
    "aicc-simulation",
    "bee-figure-1",
)
LONGER = {"kearns-figure-3": 12, "insa-optimism": 12, "insa-bootstrap": 10, "bee-table-3": 3}


def known(word):
    """What all replicates say."""
    return {text: verdict for name, verdict, text in KNOWN if name == word}


@pytest.mark.parametrize("word", [*SECONDS, *LONGER])
def test_few_replicates_are_never_wrong(word):
    """Those of `--quick`, and three, are undecided or say what a thousand say."""
    experiment, answers = registry.load(word), known(word)
    draws = draw_replicates(experiment, LONGER.get(word, experiment.quick), seed=0)
    for n in (3, len(next(iter(draws.values())))):
        claims = experiment.findings({key: values[:n] for key, values in draws.items()}).claims
        assert {claim.text for claim in claims} == set(answers)
        for claim in claims:
            sure = all(quantity.replicates is None for quantity in claim.quantities)
            if n < 10 and not sure:
                assert claim.verdict == "undecided", claim
            if "undecided" not in (claim.verdict, answers[claim.text]):
                assert claim.verdict == answers[claim.text], claim


def test_every_experiment_has_its_answers():
    """A sentence that is new or reworded is run in full first."""
    assert {word for word, *_ in KNOWN} <= set(registry.names())
    assert {verdict for _, verdict, _ in KNOWN} == {"holds", "does not hold", "undecided"}
