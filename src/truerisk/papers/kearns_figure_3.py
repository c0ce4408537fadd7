"""Kearns' Figure 3: choosing k by swapping and by leave-one-out, against the oracle."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.papers.experiment import Draws, Experiment
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.kearns import DOCUMENT, Trial, kearns_trial, penalised
from truerisk.papers.report import Findings, PaperTable, Row, Statement, mean_row, signed

__all__ = ["KearnsFigure3", "kearns_figure_3"]

NOISES = (0.1, 0.2, 0.3, 0.4)
SIZES = (20, 100, 500)
MOST = 60
N0S = (5, 10, 20)
RULES = ("oracle", "LOO", "LOO, largest k", *(f"S, n0={n0}" for n0 in N0S))
ORACLE, LOO, LOO_LARGEST, S = 0, 1, 2, RULES.index("S, n0=10")
DRAWN = 1  # the noise of the document's figure, as a place in NOISES

# gains of S over LOO in percent by 1000 trials or more of the same recipe
GAINS = {
    (100, LOO): (21.0, 16.0, 8.0, 0.5),
    (500, LOO_LARGEST): (56.0, 39.0, 28.0, -4.0),
    (20, LOO): (-21.0, None, None, None),
}
# (true risk by LOO − true risk by S, its standard error), n = 100, ties to the smallest k
DIFFERENCES = ((0.0040, 0.0006), (0.0054, 0.0007), (0.0026, 0.0006), (0.0001, 0.0003))


class KearnsFigure3(Experiment):
    """Four noise levels, three sizes; every k up to 60."""

    word: ClassVar[str] = "kearns-figure-3"
    title: ClassVar[str] = "Daudin and Mary-Huard, Figure 3: choosing k by swapping"
    document: ClassVar[str] = DOCUMENT
    replicates: ClassVar[int] = 1000
    quick: ClassVar[int] = 50
    unit: ClassVar[str] = "trials"

    def replicate(self, seed: int, number: int) -> Draws:
        shape = (len(SIZES), len(NOISES), len(RULES))
        k, true, estimate = np.empty(shape), np.empty(shape), np.empty(shape)
        for i, n in enumerate(SIZES):
            for j, noise in enumerate(NOISES):
                drawn = kearns_trial(noise, n, MOST, seed, number)
                k[i, j], true[i, j], estimate[i, j] = _choices(drawn)
        return {"k": k, "true": true, "estimate": estimate}

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(
                _difference_table(draws),
                *(_gain_table(draws, n, rule) for n, rule in GAINS),
                _choice_table(draws),
            ),
            claims=(
                *_gain_claims(draws),
                *_quantile_claims(draws),
                _n0_claim(draws),
                *_bias(draws),
            ),
            notes=NOTES,
            figures=(_figure(draws),),
        )


def _choices(drawn: Trial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chosen k, its true risk, and what the rule itself says of it, for every rule."""
    loo = drawn.line.leave_one_out
    curves = [drawn.true, loo, loo, *(penalised(drawn.line, n0) for n0 in N0S)]
    places = [_first_least(curve) for curve in curves]
    places[LOO_LARGEST] = len(loo) - 1 - _first_least(loo[::-1])
    at = np.array(places)
    said = np.array([curve[place] for curve, place in zip(curves, places, strict=True)])
    return at + 1, drawn.true[at], said


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


def _gain_table(draws: Draws, n: int, cv: int) -> PaperTable:
    ties = "largest" if cv == LOO_LARGEST else "smallest"
    rows = []
    for j, (noise, known) in enumerate(zip(NOISES, GAINS[n, cv], strict=True)):
        value, error = gain(draws["true"][:, SIZES.index(n), j], cv)
        # the reference has as many trials at the least, and a rounding
        spread = error * np.sqrt(len(draws["true"]) / KearnsFigure3.replicates)
        rows.append(Row(f"noise {noise}", value, error, known, float(np.hypot(spread, 0.5))))
    title = f"gain of S over leave-one-out in percent, n = {n}, ties of LOO to the {ties} k"
    return PaperTable(title, "same recipe", tuple(rows), digits=1)


def _difference_table(draws: Draws) -> PaperTable:
    true = draws["true"][:, SIZES.index(100)]
    rows = (
        mean_row(f"noise {noise}", true[:, j, LOO] - true[:, j, S], *DIFFERENCES[j])
        for j, noise in enumerate(NOISES)
    )
    title = "true risk by leave-one-out − true risk by S, n = 100, ties to the smallest k"
    return PaperTable(title, "same recipe", tuple(rows))


def _choice_table(draws: Draws) -> PaperTable:
    """What the document draws: mean k, true risk, and its estimate, at noise .2."""
    rows = []
    for i, n in enumerate(SIZES):
        for rule in (ORACLE, LOO, S):
            name = f"n = {n}, {RULES[rule]}"
            rows.append(mean_row(f"{name}: k", draws["k"][:, i, DRAWN, rule]))
            rows.append(mean_row(f"{name}: true risk", draws["true"][:, i, DRAWN, rule]))
            if rule != ORACLE:
                rows.append(mean_row(f"{name}: estimate", draws["estimate"][:, i, DRAWN, rule]))
    return PaperTable(f"the points of the figure, noise {NOISES[DRAWN]}", "document", tuple(rows))


def _gain_claims(draws: Draws) -> tuple[Statement, ...]:
    true = draws["true"]
    claims = []
    for cv, ties in ((LOO, "smallest"), (LOO_LARGEST, "largest")):
        found = {
            (n, noise): gain(true[:, i, j], cv)
            for i, n in enumerate(SIZES)
            for j, noise in enumerate(NOISES[:3])
        }
        inside = sum(20 <= value <= 80 for value, _ in found.values())
        worse = [key for key, (value, error) in found.items() if value < -2 * error]
        evidence = f"{inside} of {len(found)} gains lie there; " + ", ".join(
            f"n={n} noise {noise}: {value:.0f}" for (n, noise), (value, _) in found.items()
        )
        if worse:
            evidence += ". S is worse at " + ", ".join(f"n={n}, noise {e}" for n, e in worse)
        text = (
            "up to noise .3 the gain of S over LOO lies between 20 % and 80 % "
            f"(ties of LOO to the {ties} k)"
        )
        holds = inside == len(found)
        claims.append(Statement(text, "holds" if holds else "does not hold", evidence))
    return tuple(claims)


def _quantile_claims(draws: Draws) -> tuple[Statement, ...]:
    true = draws["true"]
    excess = true - true[..., [ORACLE]]
    q = np.quantile(excess, 0.95, axis=0)
    claims = []
    for cv, ties in ((LOO, "smallest"), (LOO_LARGEST, "largest")):
        lower = q[..., S] < q[..., cv]
        higher = [
            f"n={n}, noise {noise}: {q[i, j, S]:.3f} against {q[i, j, cv]:.3f}"
            for i, n in enumerate(SIZES)
            for j, noise in enumerate(NOISES)
            if not lower[i, j]
        ]
        claims.append(
            Statement(
                "the 95 % quantile of the excess over the oracle is always lower for S "
                f"(ties of LOO to the {ties} k)",
                "does not hold" if higher else "holds",
                f"lower in {int(lower.sum())} of {lower.size}"
                + (f"; not at {', '.join(higher)}" if higher else ""),
            )
        )
    return tuple(claims)


def _n0_claim(draws: Draws) -> Statement:
    """Similar: no mean true risk differs from that of n0 = 10 by more than .002."""
    true = draws["true"]
    others = [RULES.index(f"S, n0={n0}") for n0 in N0S if n0 != 10]
    gaps = (true[..., others] - true[..., [S]]).mean(axis=0)
    i, j, o = np.unravel_index(np.abs(gaps).argmax(), gaps.shape)
    one = true[:, i, j, others[o]] - true[:, i, j, S]
    error = float(one.std(ddof=1) / np.sqrt(len(one)))
    return Statement(
        "n0 from 5 to 20 gives similar results",
        "does not hold" if abs(gaps[i, j, o]) > 0.002 + 2 * error else "holds",
        f"largest change of the mean true risk against n0=10: {signed(gaps[i, j, o], error)} "
        f"({RULES[others[o]]}, n={SIZES[i]}, noise {NOISES[j]})",
    )


def _bias(draws: Draws) -> tuple[Statement, ...]:
    """What S and LOO say of the rule they chose, against its true risk."""
    bias = draws["estimate"] - draws["true"]
    mean, n = bias.mean(axis=0), len(bias)
    error = bias.std(axis=0, ddof=1) / np.sqrt(n)
    at = SIZES.index(100)

    def shown(rule: int) -> str:
        pairs = zip(NOISES, mean[at, :, rule], error[at, :, rule], strict=True)
        return "n=100: " + ", ".join(f"noise {e}: {signed(m, s, 3)}" for e, m, s in pairs)

    optimistic = (mean[..., LOO] < 0).all()
    signs = mean[at, 0, S] > 0 and (mean[at, 1:, S] < 0).all()
    closer = (np.abs(mean[at, :, S]) < np.abs(mean[at, :, LOO])).all()
    return (
        Statement(
            "LOO is always optimistic about the rule that it chose",
            "holds" if optimistic else "does not hold",
            f"estimate − true risk, {shown(LOO)}",
        ),
        Statement(
            "S is pessimistic up to noise .1 and optimistic from noise .2 on",
            "holds" if signs else "does not hold",
            f"estimate − true risk, {shown(S)}",
        ),
        Statement(
            "S estimates the true risk of its choice better than LOO",
            "holds" if closer else "does not hold",
            "n=100, absolute bias of S below that of LOO at noise "
            + (
                ", ".join(
                    str(e)
                    for e, s, c in zip(NOISES, mean[at, :, S], mean[at, :, LOO], strict=True)
                    if abs(s) < abs(c)
                )
                or "none"
            ),
        ),
    )


NOTES = (
    (
        f"every k up to {MOST} (20 for n = 20); S with n0 = 10 unless said. Equal criteria choose "
        "the smallest k where nothing else is said. The document states neither. With ties of LOO "
        "to the largest k the document's gains appear at n = 500, and S loses at n = 20."
    ),
    (
        "of equally good functions the one with the fewest intervals is taken, then the one that "
        "stays longest from the left, then the one that starts with 0. The document states no rule."
    ),
)


def _figure(draws: Draws) -> Panels:
    sizes = np.array(SIZES)
    k, true, said = (draws[name][:, :, DRAWN] for name in ("k", "true", "estimate"))

    def lines(values: np.ndarray, rules: tuple[int, ...]) -> tuple[Series, ...]:
        return tuple(
            Series(RULES[rule], sizes, values[:, rule], style)
            for rule, style in zip(rules, ("C0o-", "C1s--", "C2^:")[-len(rules) :], strict=True)
        )

    distance = np.abs(k - k[..., [ORACLE]]).mean(axis=0)
    excess = np.quantile(true - true[..., [ORACLE]], 0.95, axis=0)
    estimates = tuple(
        Series(f"{RULES[rule]}, its estimate", sizes, said.mean(axis=0)[:, rule], style)
        for rule, style in ((LOO, "C1s-."), (S, "C2^-."))
    )
    three, two = (ORACLE, LOO, S), (LOO, S)
    panels = (
        Panel("mean number of intervals", "n", "k", lines(k.mean(axis=0), three)),
        Panel("mean true risk", "n", "risk", lines(true.mean(axis=0), three) + estimates),
        Panel(
            "mean distance from the oracle's k", "n", "|k − k of the oracle|", lines(distance, two)
        ),
        Panel("95 % quantile of the excess risk", "n", "excess", lines(excess, two)),
    )
    return Panels("kearns-figure-3", panels)


kearns_figure_3 = KearnsFigure3()
