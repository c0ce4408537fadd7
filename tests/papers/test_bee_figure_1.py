"""Figure 1: many curves of cross-validation, one of the Bayesian error."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import reproduce
from truerisk.papers.bee_choosing import LAMBDAS, SHORT
from truerisk.papers.bee_figure_1 import bee_figure_1
from truerisk.papers.running import draw_replicates


@pytest.fixture(scope="module")
def draws():
    return draw_replicates(bee_figure_1, 4, seed=1)


def test_only_cross_validation_depends_on_the_folds(draws):
    """One data set: the Bayesian and the true errors are the same in every replicate."""
    for name in ("true", "BEEp", "BEEi"):
        assert (draws[name] == draws[name][0]).all()
        assert draws[name].shape == (4, len(LAMBDAS))
    assert len(np.unique(draws["CV-5"], axis=0)) == 4


def test_the_seed_draws_the_data_set():
    """Another seed, another set."""
    errors = [bee_figure_1.replicate(seed, 0)["true"] for seed in (2, 3)]
    assert not np.array_equal(*errors)


def test_the_report_has_errors_places_and_a_picture(draws):
    """No choice errs less than the oracle; the bars count every curve."""
    found = bee_figure_1.findings(draws)
    errors = {row.name: row.ours for row in found.tables[0].rows}
    assert min(errors.values()) == errors["oracle"] < 0.1
    assert [name for name, _ in found.tables[1].rows][-1] == "oracle"
    panels = found.figures[0].panels
    assert [panel.kind for panel in panels] == ["lines", "lines", "bars"]
    assert panels[2].series[0].y.sum() == 4


def test_what_the_document_says_is_judged():
    """Minima in two places, one curve of 40 far off: all holds; a third far off does not."""
    grid = np.arange(len(LAMBDAS))

    def curve(place):
        return 0.1 + 0.001 * (grid - place) ** 2

    curves = np.array([curve(18 + i % 2) for i in range(1170)] + [curve(30)] * 30)
    draws = {"CV-5": curves, SHORT: np.zeros(1200)}
    draws |= {name: np.tile(curve(19), (1200, 1)) for name in ("BEEp", "BEEi", "true")}
    assert [c.verdict for c in bee_figure_1.findings(draws).claims] == ["holds"] * 3
    draws |= {"CV-5": np.array([curve(5 + 8 * (i % 3 == 0)) for i in range(1200)])}
    verdicts = [c.verdict for c in bee_figure_1.findings(draws).claims]
    assert verdicts == ["holds", "does not hold", "does not hold"]
    few = {name: values[:9] for name, values in draws.items()}
    assert {c.verdict for c in bee_figure_1.findings(few).claims} == {"undecided"}


def test_few_replicates_are_enough_to_look():
    """`quick` and the registry."""
    report = reproduce("bee-figure-1", replicates=2)
    assert report.unit == "draws of the folds"
    assert "every path converged" in report.findings.notes[-1]
