"""A comparison prints itself with what it assumed, and becomes JSON."""

import numpy as np
import pytest
from scipy.stats import t as student

import truerisk as tr
from truerisk.comparison.paired import PairedCV
from truerisk.comparison.paired_tests import PairedTestOptions
from truerisk.comparison.pairing import PairedLosses as PairedRisks
from truerisk.extend import BadArgument
from truerisk.results.best_set import WEIGHT_SHARPNESS, may_be_best
from truerisk.results.evaluation import FOLD_VARIANCE_FACTOR, CandidateLosses, Influences

A = np.array([0.12, 0.10, 0.14, 0.08, 0.16, 0.11])
B = np.array([0.15, 0.13, 0.14, 0.12, 0.18, 0.10])


def test_comparison_prints_what_it_assumed():
    """Difference, interval, statistic and p-value; then one line per assumption."""
    found = tr.compare(A, B, n_train=90, n_test=10)
    first, second = str(found).splitlines()
    assert first.startswith("nadeau-bengio: risk a − b -0.0183, 95 % interval [-0.04")
    assert f"t(5) = {found.statistic:.3f}, p = {found.p_value:.4g}" in first
    assert second.startswith("  assumed: differences of 6 splits")
    bayes = tr.compare(A, B, n_train=90, n_test=10, test="bayes")
    assert f"better {bayes.better:.3f}" in str(bayes)
    assert "practically the same" in str(bayes)
    assert (bayes.to_dict()["p_value"], bayes.to_dict()["better"]) == (None, bayes.better)
    assert "P(a better)" in bayes._repr_html_()
    alike = tr.compare(A, A, n_train=90, n_test=10)
    assert str(alike).splitlines()[-1].startswith("  note: every split")


RNG = np.random.default_rng(0)


def equal_shares(losses, groups=None):
    n = losses.shape[1]
    return CandidateLosses(losses, np.full(n, 1 / n), groups)


def plainly(losses, level):
    """The set by loops over rows: every mean anew without the row, weights of every rival."""
    n_candidates, n = losses.shape
    best = losses.mean(axis=1).argmin()
    noises = (losses - losses[best]).std(axis=1, ddof=1) / np.sqrt(n)
    sharp = WEIGHT_SHARPNESS / np.median(noises[noises > 1e-12])
    kept = []
    for r in range(n_candidates):
        others = [s for s in range(n_candidates) if s != r]
        behind = []
        for i in range(n):
            rest = np.delete(losses, i, axis=1).mean(axis=1)[others]
            weights = np.exp(-sharp * (rest - rest.min()))
            behind.append(losses[r, i] - weights @ losses[others, i] / weights.sum())

        def exceeds(parts):
            noise = np.std(parts, ddof=1) * np.sqrt(FOLD_VARIANCE_FACTOR / n)
            return np.mean(parts) > student(n / FOLD_VARIANCE_FACTOR - 1).ppf(level) * noise

        ahead = losses[r] - losses[best]
        kept.append(r == best or not (exceeds(np.array(behind)) and exceeds(ahead)))
    return kept


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_may_be_best_is_its_formula(level):
    """Losses of any size, close and far apart, or far ahead but for a single row."""
    tables = [RNG.exponential(size=(7, 25)) + s * np.arange(7)[:, None] for s in (0.1, 0.4, 3.0)]
    tables.append(1 + 0.001 * RNG.exponential(size=(5, 30)))
    tables[3][0], tables[3][0, 7] = 0.0, 40.0
    for losses in tables:
        kept = may_be_best(equal_shares(losses), level)
        assert kept.tolist() == plainly(losses, level)
        assert kept.any()
    assert kept[0] or level < 0.95


def test_may_be_best_weights_rows_and_takes_groups_as_units():
    """Rows without weight do not count. Rows that come four times in a group tell as each once."""
    losses = RNG.integers(0, 2, (4, 30)).astype(float)
    weights = RNG.integers(0, 3, 30)
    mine = may_be_best(CandidateLosses(losses, weights / weights.sum()), 0.8)
    rest = weights > 0
    cut = CandidateLosses(losses[:, rest], weights[rest] / weights.sum())
    assert mine.tolist() == may_be_best(cut, 0.8).tolist()
    assert mine[(losses @ weights).argmin()]
    losses = RNG.exponential(size=(9, 20)) + 0.12 * np.arange(9)[:, None]
    often, groups = np.repeat(losses, 4, axis=1), np.repeat(np.arange(20), 4)
    kept = may_be_best(equal_shares(losses), 0.9)
    assert 1 < kept.sum() < 9
    assert may_be_best(equal_shares(often, groups), 0.9).tolist() == kept.tolist()
    assert may_be_best(equal_shares(often), 0.9).sum() < kept.sum()


def test_may_be_best_keeps_equal_candidates_together_in_any_unit():
    """Dollars or cents, and a constant more for everybody."""
    losses = RNG.exponential(size=(3, 40)) + np.array([[0.0], [0.2], [2.0]])
    kept = may_be_best(equal_shares(np.repeat(losses, 3, axis=0)), 0.95).reshape(3, 3)
    assert kept[0].all()
    assert (kept == kept[:, :1]).all()
    assert not kept[2].any()
    assert may_be_best(equal_shares(np.ones((4, 9))), 0.95).all()
    losses = RNG.exponential(size=(6, 30)) + 0.2 * np.arange(6)[:, None]
    kept = may_be_best(equal_shares(losses), 0.9).tolist()
    for changed in (1e8 * losses, 1e-8 * losses, losses + 5):
        assert may_be_best(equal_shares(changed), 0.9).tolist() == kept


def test_may_be_best_leaves_out_failed_fits_and_learns_nothing_from_one_row():
    losses = np.array([[0.0, 1.0], [1.0, 1.0], [np.nan, 0.0]])
    assert may_be_best(equal_shares(losses[:, :1]), 0.95).tolist() == [True, True, False]
    assert may_be_best(equal_shares(losses, np.zeros(2)), 0.95).tolist() == [True, True, False]
    assert not may_be_best(equal_shares(np.full((2, 3), np.nan)), 0.95).any()
    assert may_be_best(equal_shares(losses[:1]), 0.95).all()


@pytest.mark.parametrize("n_candidates", [2, 10, 30])
def test_may_be_best_holds_each_of_many_equal_ones(n_candidates):
    """Independent rows, all candidates as good: a given one is in the set in 95 % and more."""
    held = [
        may_be_best(equal_shares((draw.random((n_candidates, 60)) < 0.3).astype(float)), 0.95)
        for draw in map(np.random.default_rng, range(300))
    ]
    assert np.mean(held) > 0.95


@pytest.mark.parametrize("level", [0, 1, 95, "0.95", None, True, float("nan")])
def test_may_be_best_refuses_what_is_no_level(level):
    with pytest.raises(BadArgument, match="use a level between 0 and 1"):
        may_be_best(equal_shares(np.eye(3)), level)


def drawn_losses(seed):
    """Losses of two to six candidates on rows or groups, of errors or of numbers."""
    rng = np.random.default_rng(seed)
    n, n_candidates = int(rng.integers(12, 90)), int(rng.integers(2, 7))
    steps = rng.uniform(0, 0.25) * np.arange(n_candidates)[:, None]
    losses = rng.exponential(size=(1, n)) + rng.exponential(size=(n_candidates, n)) * 0.5 + steps
    if seed % 2:
        losses = (losses > 1.2).astype(float)
    groups = np.arange(n) // 3 if seed % 3 == 0 else None
    one_row = np.full(n_candidates, 1 / n if seed % 2 else 0.0)
    return CandidateLosses(losses, np.full(n, 1 / n), groups, one_row)


def one_sided(paired, a, b, level):
    """Whether the paired test says at this level that a is worse."""
    n = len(paired.row_weights)
    of = [
        Influences(paired.losses[c], np.arange(n), paired.row_weights, paired.groups, 5, step, None)
        for c, step in ((a, paired.one_row[a]), (b, paired.one_row[b]))
    ]
    values = tuple(float(paired.losses[c] @ paired.row_weights) for c in (a, b))
    pairs = PairedRisks(values=values, influences=tuple(of), loss_scale=max(values))
    return PairedCV().compare(pairs, PairedTestOptions()).shows_worse(level)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_may_be_best_excludes_only_what_the_one_sided_paired_interval_excludes(level):
    """One factor for one question; of two candidates the set is the one-sided test itself."""
    n_out = 0
    for seed in range(150):
        paired = drawn_losses(seed)
        kept = may_be_best(paired, level)
        best = int((paired.losses @ paired.row_weights).argmin())
        shown = [c != best and one_sided(paired, c, best, level) for c in range(len(kept))]
        n_out += int((~kept).sum())
        assert all(told for told, may_be in zip(shown, kept, strict=True) if not may_be)
        if len(kept) == 2:
            assert kept.tolist() == [not told for told in shown]
    assert n_out > 50
