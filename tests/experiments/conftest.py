"""Each experiment is run once in a session: its replicates serve every test that looks at them."""

from __future__ import annotations

from functools import cache

import pytest

from truerisk.experiments import registry
from truerisk.experiments.reproducing import draw_replicates

REPLICATES = {  # of seed 0; not here are those that need files or take minutes
    "wallman-table-1": 40,
    "wallman-figure-4": 40,
    "wallman-figure-5": 3,
    "wallman-posterior": 100,
    "wallman-figure-1": 20,
    "wallman-bias": 30,
    "wallman-choices": 12,
    "wallman-genes": 10,
    "kearns-figure-1": 100,
    "kearns-figure-2": 100,
    "kearns-figure-3": 60,
    "mehta-three-way": 60,
    "mehta-rules": 50,
    "insa-polynomial": 24,
    "insa-bootstrap": 12,
    "insa-optimism": 40,
    "insa-decomposition": 40,
    "insa-folds": 40,
    "bee-figure-1": 20,
    "bee-table-2": 2,
    "bee-table-3": 3,
    "bee-priors": 12,
    "aicc-simulation": 40,
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
