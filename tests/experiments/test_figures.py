"""What experiments draw: means with their errors, and a panel for each of the document's."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.experiments.figures import mean_line


def test_the_error_of_a_mean_is_that_over_replicates():
    """The standard deviation over their root."""
    values = np.random.default_rng(0).normal(size=(100, 4))
    line = mean_line("mean", np.arange(4), values)
    assert line.error == pytest.approx(values.std(axis=0, ddof=1) / 10)


def test_one_replicate_has_no_band():
    """There is no spread."""
    assert mean_line("", np.arange(2), np.ones((1, 2))).error is None


@pytest.mark.parametrize(
    ("word", "n_series"),
    [
        ("wallman-figure-4", [[1, 1, 1]]),
        ("wallman-figure-5", [[3, 3, 3, 3, 3]]),
        ("wallman-posterior", [[4]]),
        ("wallman-figure-1", [[2, 2, 2, 2]]),
        ("wallman-bias", [[3, 3, 1]]),
        ("kearns-figure-1", [[3, 3]]),
        ("kearns-figure-2", [[6, 2]]),
        ("kearns-figure-3", [[3, 5, 1, 2, 2]]),
        ("mehta-rules", [[2, 4]]),
        ("mehta-three-way", [[6, 4]]),
        ("bee-table-2", [[5] * 8]),
        ("bee-table-3", [[3, 3]]),
        ("insa-polynomial", [[3, 3, 3, 3], [1, 3]]),
        ("insa-bootstrap", [[6, 3, 7, 5]]),
        ("insa-optimism", [[2 * 30 + 2]]),
        ("insa-decomposition", [[3, 6]]),
        ("bee-figure-1", [[11, 4, 1]]),
    ],
)
def test_every_experiment_draws_its_lines(word, n_series, findings_of):
    """As many panels as the document has, and in each the lines that it is about."""
    figures = findings_of(word).figures
    assert [[len(panel.series) for panel in figure.panels] for figure in figures] == n_series
