"""Each experiment is run once in a session: its replicates serve every test that looks at them."""

from __future__ import annotations

from functools import cache

import pytest

from truerisk.experiments import registry
from truerisk.experiments.reproducing import draw_replicates

REPLICATES = {  # of seed 0; not here are those that need files or take minutes
    "wallman-table-1": 4,
    "wallman-figure-4": 4,
    "wallman-figure-5": 3,
    "wallman-posterior": 4,
    "wallman-figure-1": 3,
    "wallman-bias": 4,
    "wallman-choices": 3,
    "wallman-genes": 3,
    "wallman-no-free-lunch": 3,
    "kearns-figure-1": 4,
    "kearns-figure-2": 4,
    "kearns-figure-3": 4,
    "mehta-three-way": 4,
    "mehta-rules": 9,
    "insa-polynomial": 4,
    "insa-bootstrap": 3,
    "insa-optimism": 30,
    "insa-decomposition": 4,
    "insa-folds": 4,
    "bee-figure-1": 12,
    "bee-table-2": 2,
    "bee-table-3": 2,
    "bee-priors": 3,
    "aicc-simulation": 4,
}


@cache
def drawn(word):
    """The replicates of an experiment; those of one double cross-validation serve two."""
    if word == "wallman-figure-4":
        return drawn("wallman-table-1")
    return draw_replicates(registry.load(word), REPLICATES[word], seed=0)


@cache
def found(word):
    """What the experiment makes of them."""
    return registry.load(word).findings(drawn(word))


@pytest.fixture(scope="session")
def draws_of():
    return drawn


@pytest.fixture(scope="session")
def findings_of():
    return found
