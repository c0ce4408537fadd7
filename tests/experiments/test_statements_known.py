"""What all replicates say: every sentence has its answer in the file, and the pages count them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.experiments.conftest import REPLICATES

from truerisk.experiments import mehta, registry
from truerisk.experiments.bee_choosing import ORACLE, SHORT
from truerisk.experiments.bee_figures import FOLDS, LINES
from truerisk.experiments.bee_tables import NAMES_4

KNOWN = [
    line.split("\t")
    for line in (Path(__file__).parent / "verdicts.txt").read_text("utf-8").splitlines()
]
PAGES = Path(__file__).parents[2] / "docs" / "documents"
WORDS = {word: registry.load(word) for word in registry.names()}
WORDS |= {one.full.word: one.full for one in WORDS.values() if one.full is not None}


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


def test_every_experiment_has_its_answers():
    """A sentence that is new or reworded is run in full first; the ozone data have none."""
    assert {word for word, *_ in KNOWN} == set(WORDS) - {"insa-ozone"}
    assert {verdict for _, verdict, _ in KNOWN} == {"holds", "does not hold", "undecided"}


# What needs files or takes minutes is not run: its sentences are those of numbers made up

RNG = np.random.default_rng(0)


def of_sets(word):
    """The errors of every choice on every set, at every size."""
    return {
        f"{learner} {name}": RNG.random((12, len(real.sizes)))
        for real in WORDS[word].replicate.__self__.sets
        for learner, (_, methods) in real.learners.items()
        for name in (*methods, ORACLE, SHORT)
    }


MADE_UP = {
    "colon-table-1": {name: RNG.random((12, 4, 4)) for name in ("error", "neighbours")},
    "mehta-spam": {
        "curve": RNG.random((12, 3, len(mehta.GRID))),
        "at β": RNG.random((12, 3, len(mehta.MARKS), 2)),
        "share of spam": RNG.random(12),
        "AUC": RNG.random((12, 3)),
        **{
            f"true {side} rate": RNG.random((12, 3, len(mehta.RATES)))
            for side in ("negative", "positive")
        },
    },
    "insa-ozone": {
        **{name: RNG.random((12, 9)) for name in ("squared", "zero-one", "1 − AUC")},
        "truth": np.tile([0, 1], (12, 10)),
        "scores": RNG.random((12, 9, 20)),
    },
    **{word: of_sets(word) for word in WORDS if word.startswith(("bee-figure-2", "bee-figure-3"))},
    "bee-figure-4": {name: RNG.random((12, 4)) for name in (*LINES, FOLDS)},
    "bee-table-4": {
        f"{word} {name}": RNG.random((12, 4))
        for word, names in NAMES_4.items()
        for name in (*names, ORACLE, SHORT)
    },
}


def test_what_is_not_run_is_made_up():
    """Every experiment of the file is drawn in these tests, or has numbers made up here."""
    assert sorted([*REPLICATES, *MADE_UP]) == sorted(WORDS)


@pytest.mark.parametrize("word", MADE_UP)
def test_the_sentences_of_an_experiment_are_those_of_the_file(word):
    """Each of them, in its order and to the letter."""
    found = WORDS[word].findings(MADE_UP[word]).claims
    assert [claim.text for claim in found] == list(known(word))


# ---------------------------------------------------------------- the pages

NUMBERS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
NUMBERS += "fifteen sixteen seventeen eighteen nineteen twenty"
ROW = re.compile(r"^\|[^|]*\|([^|]*)\|([^|]*)\|$", re.MULTILINE)
LINK = re.compile(r"\]\((?:#|documents/)([a-z0-9-]+)\)")
COUNT = re.compile(r"\b(\w+) (?:sentences? )?(do(?:es)? not|are|is|holds?)\b")


def counts_of(page):
    """How many sentences of each experiment the table of a page says to hold, or not to."""
    found = {}
    for here, said in ROW.findall(page):
        for word in LINK.findall(here):
            usual, _, full = said.partition("`--full`")
            for name, text in ((word, usual), (f"{word}-full", full)):
                counts = counted(text)
                if counts:
                    found[name] = found.get(name, Counter()) + counts
    return found


def counted(text):
    """Of "two sentences hold, one is undecided": 2 and 1."""
    counts = Counter()
    for number, verb in COUNT.findall(text):
        every = NUMBERS.split()
        n = int(number) if number.isdigit() else every.index(number) if number in every else 0
        answer = {"h": "holds", "d": "does not hold"}.get(verb[0], "undecided")
        counts[answer] += n
    return +counts


def test_the_pages_count_the_answers():
    """Rows of one experiment add up to what the file holds, in full and in the usual breadth."""
    found = {}
    for page in sorted(PAGES.glob("00*.md")):
        found |= counts_of(page.read_text("utf-8"))
    expected = {word: Counter(known(word).values()) for word in WORDS if word != "insa-ozone"}
    assert {w: dict(c) for w, c in found.items()} == {w: dict(c) for w, c in expected.items()}


def test_a_count_is_read():
    """Figures and words; "does not" in a row's end; two rows of one experiment; the full run."""
    page = (
        "| Fig. 1 | [`a-b`](#a-b) | 45 sentences hold, eleven do not, sixteen are undecided |\n"
        "| Fig. 2 | [`a-b`](#a-b) | one sentence does not hold; `--full`: two are undecided |\n"
        "| Fig. 3 | [`c`](#c) | it was lost |\n"
    )
    assert counts_of(page) == {
        "a-b": {"holds": 45, "does not hold": 12, "undecided": 16},
        "a-b-full": {"undecided": 2},
    }
