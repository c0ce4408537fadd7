"""Kearns' Figure 3: choosing k by swapping and by leave-one-out, against the oracle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.papers.experiment import Draws, experiment
from truerisk.papers.figures import Findings, Panel, Panels, PaperTable, Row, Series, mean_line
from truerisk.papers.kearns import DOCUMENT, Trial, kearns_trial, penalised
from truerisk.papers.statements import ABOVE, BELOW, Claim, Quantity, Statement

NOISES = (0.1, 0.2, 0.3, 0.4)
SIZES = (20, 100, 500)
SITUATIONS = [(i, j) for i in range(len(SIZES)) for j in range(len(NOISES))]
MOST = 60
TRIALS = 1000
N0S = (5, 10, 20)
RULES = ("oracle", "LOO", "LOO, largest k", *(f"S, n0={n0}" for n0 in N0S))
ORACLE, LOO, LOO_LARGEST, S = 0, 1, 2, RULES.index("S, n0=10")
TIES = {LOO: "smallest", LOO_LARGEST: "largest"}
GAINED = Claim.near(50.0, 30.0)  # from 20 to 80 per cent
TINY = Claim.near(5.0, 5.0)
SIMILAR = 0.002  # of the true risk: half of what S gains over LOO where it gains
DRAWN = 1  # the noise of the document's figure, as a place in NOISES

# gains of S over LOO in percent by 1000 trials or more of the same recipe
GAINS = {
    (100, LOO): (21.0, 16.0, 8.0, 0.5),
    (500, LOO_LARGEST): (56.0, 39.0, 28.0, -4.0),
    (20, LOO): (-21.0, None, None, None),
}
# (true risk by LOO − true risk by S, its standard error), n = 100, ties to the smallest k
DIFFERENCES = ((0.0040, 0.0006), (0.0054, 0.0007), (0.0026, 0.0006), (0.0001, 0.0003))


def _replicate(seed: int, number: int) -> Draws:
    """Four noise levels, three sizes; every k up to 60."""
    shape = (len(SIZES), len(NOISES), len(RULES))
    k, true, estimate = np.empty(shape), np.empty(shape), np.empty(shape)
    for i, n in enumerate(SIZES):
        for j, noise in enumerate(NOISES):
            drawn = kearns_trial(noise, n, MOST, seed, number)
            k[i, j], true[i, j], estimate[i, j] = _choices(drawn)
    return {"k": k, "true": true, "estimate": estimate}


def _choices(drawn: Trial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chosen k, its true risk, and what the rule itself says of it, for every rule."""
    loo = drawn.line.leave_one_out
    curves = [drawn.true, loo, loo, *(penalised(drawn.line, n0) for n0 in N0S)]
    places = [_first_least(curve) for curve in curves]
    places[LOO_LARGEST] = len(loo) - 1 - _first_least(loo[::-1])
    at = np.array(places)
    own = np.array([curve[place] for curve, place in zip(curves, places, strict=True)])
    return at + 1, drawn.true[at], own


def _first_least(curve: np.ndarray) -> int:
    """The first minimum; sums in another order do not choose."""
    return int(np.flatnonzero(curve <= curve.min() + 1e-12)[0])


def gain(true: np.ndarray, cv: int) -> tuple[float, float]:
    """100 (L_CV − L_S) / (L_CV − L_O) of the mean risks, with its standard error (delta method)."""
    better, possible = true[:, cv] - true[:, S], true[:, cv] - true[:, ORACLE]
    if possible.mean() == 0:
        return 0.0, float("inf")
    ratio = better.mean() / possible.mean()
    residual = (better - ratio * possible) / possible.mean()
    return 100 * float(ratio), 100 * float(residual.std(ddof=1) / np.sqrt(len(true)))


@experiment(
    DOCUMENT,
    _replicate,
    replicates=TRIALS,
    quick=50,
    unit="trials",
)
def kearns_figure_3(draws: Draws) -> Findings:
    """Daudin and Mary-Huard, Figure 3: choosing k by swapping."""
    true = draws["true"]
    gaps = true[:, SIZES.index(100), :, LOO] - true[:, SIZES.index(100), :, S]
    by_noise = {f"noise {noise}": gaps[:, j] for j, noise in enumerate(NOISES)}
    title = "true risk by leave-one-out − true risk by S, n = 100, ties to the smallest k"
    return Findings(
        tables=(
            PaperTable.of(
                title, "same recipe", by_noise, dict(zip(by_noise, DIFFERENCES, strict=True))
            ),
            *(_gain_table(true, n, rule) for n, rule in GAINS),
            PaperTable.of(
                f"the points of the figure, noise {NOISES[DRAWN]}", "document", _points(draws)
            ),
        ),
        claims=(*_claims(true), *_bias_claims(draws["estimate"] - true)),
        notes=(
            (
                f"every k up to {MOST} (20 for n = 20); S with n0 = 10 unless said. Equal criteria "
                "choose the smallest k where nothing else is said. The document states neither. "
                "With ties of LOO to the largest k the document's gains appear at n = 500, and S "
                "loses at n = 20."
            ),
            (
                "of equally good functions the one with the fewest intervals is taken, then the "
                "one that stays longest from the left, then the one that starts with 0. The "
                "document states no rule."
            ),
        ),
        figures=(_figure(draws),),
    )


def _gain_table(true: np.ndarray, n: int, cv: int) -> PaperTable:
    rows, n_trials = [], len(true)
    for j, (noise, known) in enumerate(zip(NOISES, GAINS[n, cv], strict=True)):
        value, error = gain(true[:, SIZES.index(n), j], cv)
        # the reference has as many trials at the least, and a rounding
        doubt = float(np.hypot(error * np.sqrt(n_trials / TRIALS), 0.5))
        rows.append(Row(f"noise {noise}", value, error, known, doubt, n_trials))
    title = f"gain of S over leave-one-out in percent, n = {n}, ties of LOO to the {TIES[cv]} k"
    return PaperTable(title, "same recipe", tuple(rows), digits=1)


def _points(draws: Draws) -> dict[str, np.ndarray]:
    """What the document draws: mean k, true risk, and its estimate, at noise .2."""
    return {
        f"n = {n}, {RULES[rule]}: {name}": draws[key][:, i, DRAWN, rule]
        for i, n in enumerate(SIZES)
        for rule in (ORACLE, LOO, S)
        for name, key in (("k", "k"), ("true risk", "true"), ("estimate", "estimate"))
        if (rule, key) != (ORACLE, "estimate")
    }


def _claims(true: np.ndarray) -> Iterator[Statement]:
    excess, n_trials = true - true[..., [ORACLE]], len(true)
    low, high = ([(i, j) for i, j in SITUATIONS if (j < 3) == below] for below in (True, False))

    def gains(cv: int, places: list[tuple[int, int]], claim: Claim) -> Iterator[Quantity]:
        for i, j in places:
            yield Quantity(f"gain, {_at(i, j)}", *gain(true[:, i, j], cv), n_trials, claim, 1)

    for cv, ties in TIES.items():
        rule, lost = f"(ties of LOO to the {ties} k)", true[..., cv] - true[..., S]
        yield Statement.of(
            f"up to noise .3 the gain of S over LOO lies between 20 % and 80 % {rule}",
            *gains(cv, low, GAINED),
        )
        yield Statement.of(
            f"S outperforms LOO up to noise .3 {rule}",
            *(
                Quantity.mean(f"true risk by LOO − by S, {_at(i, j)}", lost[:, i, j])
                for i, j in low
            ),
        )
        yield Statement.of(
            f"at noise .4 the gain exists but is tiny: from 0 to 10 % {rule}",
            *gains(cv, high, TINY),
        )
    for cv, ties in TIES.items():  # quantiles over the same trials
        yield Statement.of(
            "the 95 % quantile of the excess over the oracle is always lower for S "
            f"(ties of LOO to the {ties} k)",
            *(
                Quantity.of(
                    f"quantile by S − by LOO, {_at(i, j)}",
                    _quantile_gap,
                    excess[:, i, j][:, [S, cv]],
                    BELOW,
                    digits=3,
                )
                for i, j in SITUATIONS
            ),
        )
    others = [rule for rule, word in enumerate(RULES) if word.startswith("S,") and rule != S]
    yield Statement.of(
        f"n0 from 5 to 20 gives similar results: mean true risks within {SIMILAR} of n0 = 10",
        *(
            Quantity.mean(
                f"{RULES[rule]} − n0=10, {_at(i, j)}",
                true[:, i, j, rule] - true[:, i, j, S],
                Claim.near(0.0, SIMILAR),
            )
            for rule in others
            for i, j in SITUATIONS
        ),
    )


def _quantile_gap(two: np.ndarray) -> float:
    ours, theirs = np.quantile(two, 0.95, axis=0)
    return float(ours - theirs)


def _bias_claims(bias: np.ndarray) -> Iterator[Statement]:
    """What S and LOO say of the rule they chose, against its true risk, for every n and noise."""

    def of(rule: int, i: int, j: int, claim: Claim) -> Quantity:
        name = f"{RULES[rule]}: estimate − true risk, {_at(i, j)}"
        return Quantity.mean(name, bias[:, i, j, rule], claim)

    yield Statement.of(
        "LOO is always optimistic about the rule that it chose",
        *(of(LOO, i, j, BELOW) for i, j in SITUATIONS),
    )
    yield Statement.of(
        "S is pessimistic up to noise .1", *(of(S, i, 0, ABOVE) for i in range(len(SIZES)))
    )
    yield Statement.of(
        "S is optimistic from noise .2 on", *(of(S, i, j, BELOW) for i, j in SITUATIONS if j > 0)
    )
    yield Statement.of(
        "S estimates the true risk of its choice better than LOO",
        *(
            Quantity.nearer(f"|bias| of S − of LOO, {_at(i, j)}", bias[:, i, j][:, [S, LOO]])
            for i, j in SITUATIONS
        ),
    )


def _at(i: int, j: int) -> str:
    return f"n = {SIZES[i]}, noise {NOISES[j]}"


def _figure(draws: Draws) -> Panels:
    sizes, styles = np.array(SIZES), {ORACLE: "C0o-", LOO: "C1s--", S: "C2^:"}
    k, true, own = (draws[name][:, :, DRAWN] for name in ("k", "true", "estimate"))

    def lines(values: np.ndarray, *rules: int) -> tuple[Series, ...]:
        return tuple(mean_line(RULES[r], sizes, values[..., r], styles[r]) for r in rules)

    distance, excess = np.abs(k - k[..., [ORACLE]]), true - true[..., [ORACLE]]
    estimates = tuple(
        mean_line(f"{RULES[rule]}, its estimate", sizes, own[..., rule], style)
        for rule, style in ((LOO, "C1s-."), (S, "C2^-."))
    )
    risks = lines(true, ORACLE, LOO, S) + estimates
    distances = lines(distance, LOO, S)
    panels = (
        Panel("mean number of intervals", "n", "k", lines(k, ORACLE, LOO, S)),
        Panel("mean true risk", "n", "risk", risks),
        Panel("mean distance from the oracle's k", "n", "|k − k of the oracle|", distances),
        Panel("95 % quantile of the excess risk", "n", "excess", _quantiles(excess, (LOO, S))),
    )
    return Panels("kearns-figure-3", panels)


def _quantiles(excess: np.ndarray, rules: tuple[int, ...]) -> tuple[Series, ...]:
    """Quantiles have a bootstrap's standard error."""
    series = []
    for rule, style in zip(rules, ("C1s--", "C2^:"), strict=True):
        each = [
            Quantity.of("", lambda x: float(np.quantile(x, 0.95)), excess[:, i, rule])
            for i in range(len(SIZES))
        ]
        y, error = (np.array([getattr(q, a) for q in each]) for a in ("value", "std_error"))
        series.append(Series(RULES[rule], np.array(SIZES), y, style, error=error))
    return tuple(series)
