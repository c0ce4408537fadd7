"""Stored verdicts of all replicates: claims, pages and few draws agree with them."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.experiments.conftest import REPLICATES

from truerisk.experiments import mehta, registry
from truerisk.experiments.bee_choosing import NOT_CONVERGED, ORACLE
from truerisk.experiments.bee_figures import FIVE_FOLDS_ONLY, TIMING_LINE_STYLES
from truerisk.experiments.bee_tables import METHOD_NAMES_4
from truerisk.experiments.figures import TableRow

KNOWN = [
    line.split("\t")
    for line in (Path(__file__).parent / "verdicts.txt").read_text("utf-8").splitlines()
]
PAGES = Path(__file__).parents[2] / "docs" / "documents"
WORDS = {word: registry.load(word) for word in registry.names()}
WORDS |= {one.full.name: one.full for one in WORDS.values() if one.full is not None}


def known(word):
    """What all replicates say."""
    return {text: verdict for name, verdict, text in KNOWN if name == word}


# What needs files or takes minutes is not run: its claims are those of made-up draws.

RNG = np.random.default_rng(0)


def of_sets(word):
    """The errors of every choice on every set, at every size."""
    return {
        f"{learner} {name}": RNG.random((12, len(real.training_sizes)))
        for real in WORDS[word].replicate.__self__.data_sets
        for learner, (_, methods) in real.learners.items()
        for name in (*methods, ORACLE, NOT_CONVERGED)
    }


MADE_UP = {
    "colon-table-1": {name: RNG.random((12, 4, 4)) for name in ("error", "neighbours")},
    "mehta-spam": {
        "curve": RNG.random((12, 3, len(mehta.RATE_GRID))),
        "at β": RNG.random((12, 3, len(mehta.MARKERS_BY_BETA), 2)),
        "share of spam": RNG.random(12),
        "AUC": RNG.random((12, 3)),
        **{
            f"true {side} rate": RNG.random((12, 3, len(mehta.REPORTED_RATES)))
            for side in ("negative", "positive")
        },
    },
    "insa-ozone": {
        **{name: RNG.random((12, 9)) for name in ("squared", "zero-one", "1 − AUC")},
        "truth": np.tile([0, 1], (12, 10)),
        "scores": RNG.random((12, 9, 20)),
    },
    **{word: of_sets(word) for word in WORDS if word.startswith(("bee-figure-2", "bee-figure-3"))},
    "bee-figure-4": {name: RNG.random((12, 4)) for name in (*TIMING_LINE_STYLES, FIVE_FOLDS_ONLY)},
    "bee-table-4": {
        f"{word} {name}": RNG.random((12, 4))
        for word, names in METHOD_NAMES_4.items()
        for name in (*names, ORACLE, NOT_CONVERGED)
    },
}


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


def test_verdicts_on_the_pages_are_counted_from_the_stored_ones():
    found = {}
    for page in sorted(PAGES.glob("00*.md")):
        found |= counts_of(page.read_text("utf-8"))
    expected = {word: Counter(known(word).values()) for word in WORDS if word != "insa-ozone"}
    assert {w: dict(c) for w, c in found.items()} == {w: dict(c) for w, c in expected.items()}


def test_counts_of_page_are_read():
    page = (
        "| Fig. 1 | [`a-b`](#a-b) | 45 sentences hold, eleven do not, sixteen are undecided |\n"
        "| Fig. 2 | [`a-b`](#a-b) | one sentence does not hold; `--full`: two are undecided |\n"
        "| Fig. 3 | [`c`](#c) | it was lost |\n"
    )
    assert counts_of(page) == {
        "a-b": {"holds": 45, "does not hold": 12, "undecided": 16},
        "a-b-full": {"undecided": 2},
    }


def test_experiments_have_stored_verdicts_and_draws():
    assert {word for word, *_ in KNOWN} == set(WORDS) - {"insa-ozone"}
    assert {verdict for _, verdict, _ in KNOWN} == {"holds", "does not hold", "undecided"}
    assert sorted([*REPLICATES, *MADE_UP]) == sorted(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_claims_of_experiment_are_those_of_the_stored_verdicts(word, findings_of):
    made_up = word in MADE_UP
    claims = (WORDS[word].findings(MADE_UP[word]) if made_up else findings_of(word)).claims
    assert [claim.text for claim in claims] == list(known(word))
    for claim in () if made_up else claims:
        if all(quantity.n_replicates in range(10) for quantity in claim.quantities):
            assert claim.verdict == "undecided", claim
        if "undecided" not in (claim.verdict, known(word)[claim.text]):
            assert claim.verdict == known(word)[claim.text], claim


GOLDEN = {
    "wallman-table-1": (0.848279, 0.952938, "hdh"),
    "wallman-figure-4": (2.25345, 200, "hh"),
    "wallman-figure-5": (4000, -1133.33, "hhddhhhhhhhhhhhhhhhhhhhddh"),
    "wallman-posterior": (-49.2553, -13.5796, "ddh"),
    "wallman-figure-1": (0.381167, 0.381167, "h"),
    "wallman-bias": (5.43173, 0.172828, "hduhd"),
    "wallman-choices": (2.27689, 0.308, "hhuh"),
    "wallman-genes": (18.4053, 8.34141, "hhh"),
    "wallman-no-free-lunch": (9, 0, "hh"),
    "kearns-figure-1": (4.51459, 4.09577, "hdhhhdhh"),
    "kearns-figure-2": (3.34875, 6.20176, "hdh"),
    "kearns-figure-3": (-1026.27, -610.795, "dddddddddddddudhd"),
    "mehta-three-way": (1.72562, 0.0750176, "huhhhddh"),
    "mehta-rules": (14.1916, 2.89928, "uhdhhhhh"),
    "insa-polynomial": (8.79082, 3.98279, "huhhh"),
    "insa-bootstrap": (2.00121, 0.541073, "hhhhh"),
    "insa-optimism": (4.65453, 3.10351, "hhhh"),
    "insa-decomposition": (3.51072, 1.57411, "hhhuhhh"),
    "insa-folds": (3.56333, 4.19387, "hdhuduudhhhuddddud"),
    "bee-figure-1": (-12.0302, 17.3145, "hdu"),
    "bee-table-2": (
        106.374,
        11.3172,
        "uhdhdhhhhhuhhhdhhdhuhhhuhuuuhhhhdhuhhdudhhhdhdhdhhdhduhdhhdhdhhddhdhdhhdddd",
    ),
    "bee-table-3": (1.69971, 0.0266256, "dddhhddd"),
    "bee-priors": (1.84336, 45.0005, "uhh"),
    "aicc-simulation": (139.037, 1.73113, "hdh"),
}


@pytest.mark.parametrize("word", REPLICATES)
def test_findings_of_seed_0_stay_what_they_were(word, draws_of, findings_of):
    """The verdicts are those of the same draws repeated 30 times: they pin what is claimed."""
    tables, claims, verdicts = GOLDEN[word]
    findings = findings_of(word)
    rows = [row for table in findings.tables for row in table.rows]
    means = [row.ours if isinstance(row, TableRow) else sum(row.means) for row in rows]
    values = [quantity.value for claim in findings.claims for quantity in claim.quantities]
    found = np.nansum(means), np.nansum(values)
    assert found == pytest.approx((tables, claims), rel=1e-4)
    many = {name: np.concatenate([of] * 30) for name, of in draws_of(word).items()}
    found = [claim.verdict for claim in WORDS[word].findings(many).claims]
    assert "".join(verdict[0] for verdict in found) == verdicts


@pytest.mark.parametrize(
    ("word", "n_series"),
    [
        ("wallman-figure-4", [[1, 1, 1]]),
        ("wallman-figure-5", [[3, 3, 3, 3, 3]]),
        ("wallman-posterior", [[4]]),
        ("wallman-figure-1", [[2, 2, 2, 2]]),
        ("wallman-bias", [[3, 3, 1]]),
        ("kearns-figure-1", [[3, 4, 5]]),
        ("kearns-figure-2", [[6, 2]]),
        ("kearns-figure-3", [[3, 5, 1, 2, 2]]),
        ("mehta-rules", [[3, 8]]),
        ("mehta-three-way", [[6, 4]]),
        ("bee-table-2", [[5] * 8]),
        ("bee-table-3", [[3, 3]]),
        ("insa-polynomial", [[3, 3, 3, 3], [1, 3]]),
        ("insa-bootstrap", [[6, 3, 7, 5]]),
        ("insa-optimism", [[2 * 30 + 2]]),
        ("insa-decomposition", [[3, 6, 3]]),
        ("bee-figure-1", [[11, 4, 1]]),
    ],
)
def test_figures_of_experiment_have_their_series(word, n_series, findings_of):
    figures = findings_of(word).figures
    assert [[len(panel.series) for panel in figure.panels] for figure in figures] == n_series
