"""Kearns' Figure 3: the choice of k by swapping and by leave-one-out, compared with the oracle."""

from __future__ import annotations

from functools import partial

import numpy as np

from truerisk.experiments.experiment import Draws, experiment, first_least
from truerisk.experiments.figures import Panel, PaperTable, Parts, Series, mean_line, mean_lines
from truerisk.experiments.kearns import NOISES, Trial, kearns_trial
from truerisk.experiments.statements import ABOVE, BELOW, Claim, Quantity, Statement

SIZES = (20, 100, 500)
EVERY, LEAST, MORE, LOW, HIGH = range(4), range(1), range(1, 4), range(3), range(3, 4)  # NOISES
TRIALS = 1000
N0S = (5, 10, 20)
RULES = ("oracle", "LOO", "LOO, largest k", *(f"S, n0={n0}" for n0 in N0S))
ORACLE, LOO, LOO_LARGEST, S_5, S, S_20 = range(len(RULES))
TIES = {LOO: "smallest", LOO_LARGEST: "largest"}
GAINED = Claim("near", 50.0, 30.0)  # The range is from 20 to 80 per cent.
TINY = Claim("near", 5.0, 5.0)
SIMILAR = 0.002  # difference of the true risk: half of S's gain over LOO where it gains
STYLES = {ORACLE: "C0o-", LOO: "C1s--", S: "C2^:"}
DRAWN = 1  # index in NOISES of the noise in the document's figure

# These are gains of S over LOO in percent, by 1000 trials or more of the same recipe.
GAINS = {
    (100, LOO): (21.0, 16.0, 8.0, 0.5),
    (500, LOO_LARGEST): (56.0, 39.0, 28.0, -4.0),
    (20, LOO): (-21.0, None, None, None),
}
# (true risk by LOO − true risk by S, its standard error), n = 100, ties to the smallest k
DIFFERENCES = ((0.0040, 0.0006), (0.0054, 0.0007), (0.0026, 0.0006), (0.0001, 0.0003))


def _replicate(seed: int, number: int) -> Draws:
    """Compute all choices for four noise levels, three sizes, and every k up to 60."""
    trials = [[kearns_trial(noise, n, seed, number) for noise in NOISES] for n in SIZES]
    found = np.array([[_choices(drawn) for drawn in row] for row in trials], dtype=float)
    return dict(zip(("k", "true", "estimate"), np.moveaxis(found, 2, 0), strict=True))


def _choices(drawn: Trial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the chosen k, its true risk, and the rule's own estimate, for every rule."""
    loo, criteria = drawn.leave_one_out, [drawn.criterion(n0) for n0 in N0S]
    curves = [drawn.true, loo, loo, *criteria]
    places = [first_least(curve) for curve in curves]
    places[LOO_LARGEST] = len(loo) - 1 - first_least(loo[::-1])
    at = np.array(places)
    own = np.array([curve[place] for curve, place in zip(curves, places, strict=True)])
    return at + 1, drawn.true[at], own


def gain(true: np.ndarray, cv: int) -> tuple[float, float]:
    """Return 100 (L_CV − L_S) / (L_CV − L_O) of the mean risks, with its standard error.

    The error comes from the delta method.
    """
    better, possible = true[:, cv] - true[:, S], true[:, cv] - true[:, ORACLE]
    if possible.mean() == 0:
        return 0.0, float("inf")
    ratio = better.mean() / possible.mean()
    residual = (better - ratio * possible) / possible.mean()
    return 100 * float(ratio), 100 * float(residual.std(ddof=1) / np.sqrt(len(true)))


@experiment(_replicate, replicates=TRIALS, quick=50, unit="trials")
def kearns_figure_3(draws: Draws) -> Parts:
    """Daudin and Mary-Huard, Figure 3: choosing k by swapping.

    Daudin, Mary-Huard: Model selection in classification: the swapping method, §3.2

    every k up to 60 (20 for n = 20); S with n0 = 10 unless said. Equal criteria choose the
    smallest k where nothing else is said. The document states neither. With ties of LOO to the
    largest k the document's gains appear at n = 500, and S loses at n = 20.

    of equally good functions the one with the fewest intervals is taken, then the one that stays
    longest from the left, then the one that starts with 0. The document states no rule.
    """
    k, true, own = draws["k"], draws["true"], draws["estimate"]
    excess, bias = true - true[..., [ORACLE]], own - true
    lost = {cv: true[..., cv] - true[..., S] for cv in TIES}
    by_noise = {f"noise {noise}": lost[LOO][:, 1, j] for j, noise in enumerate(NOISES)}
    title = "true risk by leave-one-out − true risk by S, n = 100, ties to the smallest k"
    known = dict(zip(by_noise, DIFFERENCES, strict=True))
    yield PaperTable.from_values(title, "same recipe", by_noise, known)

    def gains(cv: int, noises: range, claim: Claim) -> list[Quantity]:
        every = _named("gain", true, noises)
        return [Quantity(at, *gain(of, cv), len(of), claim, 1) for at, of in every.items()]

    for (n, cv), percents in GAINS.items():
        at_n, ours, beside = np.moveaxis(true[:, SIZES.index(n)], 1, 0), {}, {}
        for at, of, percent in zip(by_noise, at_n, percents, strict=True):
            value, error = gain(of, cv)
            ours[at] = Quantity("", value, error, len(of))
            # The reference has at least as many trials, and is rounded.
            beside[at] = percent, float(np.hypot(error * np.sqrt(len(of) / TRIALS), 0.5))
        title = f"gain of S over leave-one-out in percent, n = {n}, ties of LOO to the {TIES[cv]} k"
        yield PaperTable.from_values(title, "same recipe", ours, beside, digits=1)
    points = {
        f"n = {n}, {RULES[rule]}: {name}": of[:, i, DRAWN, rule]
        for i, n in enumerate(SIZES)
        for rule in (ORACLE, LOO, S)
        for name, of in (("k", k), ("true risk", true), ("estimate", own))
        if (rule, name) != (ORACLE, "estimate")
    }
    yield PaperTable.from_values(
        f"the points of the figure, noise {NOISES[DRAWN]}", "document", points
    )

    for cv, ties in TIES.items():
        tied = f"(ties of LOO to the {ties} k)"
        yield Statement.from_quantities(
            f"up to noise .3 the gain of S over LOO lies between 20 % and 80 % {tied}",
            *gains(cv, LOW, GAINED),
        )
        yield Statement.from_quantities(
            f"S outperforms LOO up to noise .3 {tied}",
            _named("true risk by LOO − by S", lost[cv], LOW),
        )
        yield Statement.from_quantities(
            f"at noise .4 the gain exists but is tiny: from 0 to 10 % {tied}",
            *gains(cv, HIGH, TINY),
        )
    for cv, ties in TIES.items():  # Quantiles are over the same trials.
        pairs = _named("quantile by S − by LOO", excess[..., [S, cv]])
        yield Statement.from_quantities(
            "the 95 % quantile of the excess over the oracle is always lower for S "
            f"(ties of LOO to the {ties} k)",
            *(
                Quantity.from_statistic(name, _quantile_gap, of, BELOW, digits=3)
                for name, of in pairs.items()
            ),
        )
    yield Statement.from_quantities(
        f"n0 from 5 to 20 gives similar results: mean true risks within {SIMILAR} of n0 = 10",
        *(_named(f"{RULES[rule]} − n0=10", true[..., rule] - true[..., S]) for rule in (S_5, S_20)),
        claim=Claim("near", 0.0, SIMILAR),
    )
    large, of_n0 = true[..., S_20] - true[..., S_5], "true risk with n0 = 20 − with 5"
    of_loo, of_s = (f"{RULES[rule]}: estimate − true risk" for rule in (LOO, S))
    loo, s = bias[..., LOO], bias[..., S]
    for text, words, of, noises, claim in (
        ("for a high level of noise n0 should be large", of_n0, large, HIGH, BELOW),
        ("for a low level of noise n0 should be small", of_n0, large, LEAST, ABOVE),
        ("LOO is always optimistic about the rule that it chose", of_loo, loo, EVERY, BELOW),
        ("S is pessimistic up to noise .1", of_s, s, LEAST, ABOVE),
        ("S is optimistic from noise .2 on", of_s, s, MORE, BELOW),
    ):
        yield Statement.from_quantities(text, _named(words, of, noises), claim=claim)
    both = _named("|bias| of S − of LOO", bias[..., [S, LOO]])
    yield Statement.from_quantities(
        "S estimates the true risk of its choice better than LOO",
        *(Quantity.nearer(name, of) for name, of in both.items()),
    )

    sizes = np.array(SIZES)
    k, true, own, excess = (of[:, :, DRAWN] for of in (k, true, own, excess))

    def lines(values: np.ndarray, *rules: int) -> tuple[Series, ...]:
        return tuple(mean_line(RULES[r], sizes, values[..., r], STYLES[r]) for r in rules)

    yield Panel("mean number of intervals", "n", "k", lines(k, ORACLE, LOO, S))
    errors_by_rule = {f"{RULES[rule]}, its estimate": own[..., rule] for rule in (LOO, S)}
    estimates = mean_lines(sizes, errors_by_rule, ("C1s-.", "C2^-."))
    yield Panel("mean true risk", "n", "risk", lines(true, ORACLE, LOO, S) + estimates)
    paired = (mean_line("", sizes, true[..., S] - true[..., LOO], "C2^-"),)
    yield Panel("the same data: S (n0 = 10) less LOO", "n", "difference in true risk", paired)
    distances = lines(np.abs(k - k[..., [ORACLE]]), LOO, S)
    yield Panel("mean distance from the oracle's k", "n", "|k − k of the oracle|", distances)

    worst, quantile = [], partial(np.quantile, q=0.95)
    for rule in (LOO, S):
        every = (Quantity.from_statistic("", quantile, of) for of in excess[..., rule].T)
        worst.append(Series.from_quantities(RULES[rule], sizes, every, STYLES[rule]))
    yield Panel("95 % quantile of the excess risk", "n", "excess", tuple(worst))


def _quantile_gap(two: np.ndarray) -> float:
    ours, theirs = np.quantile(two, 0.95, axis=0)
    return float(ours - theirs)


def _named(words: str, values: np.ndarray, noises: range = EVERY) -> dict[str, np.ndarray]:
    """Return a quantity at every size and at these levels of noise, by name."""
    return {
        f"{words}, n = {n}, noise {NOISES[j]}": values[:, i, j]
        for i, n in enumerate(SIZES)
        for j in noises
    }
