"""Figure 4: seconds of a choice."""

from __future__ import annotations

import numpy as np

from truerisk.papers import bee_figure_4 as module
from truerisk.papers import reproduce
from truerisk.papers.bee_figure_4 import FEATURES, FIVE, LINES, PROBLEM, bee_figure_4


def test_every_choice_is_timed(monkeypatch):
    """Four curves and the engine's, over all sizes; on as many features as the MEG data had."""
    assert PROBLEM.n_features == FEATURES == 408
    monkeypatch.setattr(module, "SIZES", (40, 60))
    seconds, ratios = reproduce("bee-figure-4", replicates=2).findings.tables
    assert [name for name, _ in seconds.rows] == list(LINES)
    assert all(mean > 0 for _, told in seconds.rows for mean, _ in told)
    assert next(name for name, _ in ratios.rows) == "LR CV-5 / LR BEEp"


def test_ratios_are_judged():
    """3.3 times as long holds, twice and four times as long do not: the document has 3 to 3.5."""
    rng = np.random.default_rng(0)
    draws = {name: 1 + 0.01 * rng.random((10, 4)) for name in LINES}
    for times, verdict in ((3.3, "holds"), (2.0, "does not hold"), (4.0, "does not hold")):
        draws |= {name: times * np.ones((10, 4)) for name in ("LR CV-5", "SVM CV-5")}
        found = bee_figure_4.findings(draws)
        assert [claim.verdict for claim in found.claims] == [verdict] * 2
    assert found.tables[1].rows[2][0] == f"{FIVE} / SVM BEEp"
