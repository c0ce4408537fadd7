"""Kearns' interval problem for every k at once; Figures 1 and 2 of Daudin and Mary-Huard.

The rule with at most k intervals and the fewest errors is `IntervalClassifier`. Its engine computes
every k, every left-out row and every flipped label by one pass in each direction, so that a data
set of 500 rows takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise

import numpy as np

from truerisk.datasets import KearnsProblem
from truerisk.experiments.experiment import Draws, answered, experiment, stream, two_classes
from truerisk.experiments.figures import (
    Panel,
    PaperTable,
    Parts,
    Series,
    mean_line,
    mean_lines,
    printed,
)
from truerisk.experiments.statements import ABOVE, BELOW, Claim, Quantity, Statement
from truerisk.extend import Answers, Data, Family, Method, Plan, Streams
from truerisk.losses import ZeroOne
from truerisk.methods import Apparent, LeaveOneOut, Swapping
from truerisk.models import IntervalClassifier

N0 = 10  # Value of the document: how strongly shares are shrunken towards one half.
MOST = 60  # maximum number of intervals of a rule


@lru_cache(maxsize=32)
def plan_of_rows(method: Method, n: int) -> Plan:
    """Return the plan of a method that depends only on the number of rows."""
    return method.plan(two_classes(np.empty((n, 1)), np.arange(n) % 2), Streams(0))


@lru_cache(maxsize=32)
def interval_rules(ks: tuple[int, ...]) -> Family:
    """Return the rules with at most k intervals and the fewest errors, for every k."""
    return Family.from_grid(IntervalClassifier(), {"k": ks})


@dataclass(frozen=True, eq=False)
class Trial:
    """Distinct points of the problem from left to right, their labels, and the rule of every k.

    Results have a row per k and, for points, a column per point. They are computed on request: only
    swapping and leave-one-out need rules other than those of all points.
    """

    problem: KearnsProblem
    x: np.ndarray
    y: np.ndarray
    ks: Sequence[int]

    @classmethod
    def draw(
        cls, problem: KearnsProblem, n: int, ks: Sequence[int], rng: np.random.Generator
    ) -> Trial:
        """Draw a trial with n points."""
        X, y = problem(n, random_state=rng)
        order = np.argsort(X[:, 0])
        return cls(problem, X[order, 0], y[order], ks)

    @cached_property
    def _swapping(self) -> Answers:
        """Labels of all points, and of each point by the rule trained with its other label.

        They include the number of points of each class in the interval of each point.
        """
        return self._answers(Swapping().plan(self._data, Streams(0)))

    @cached_property
    def _data(self) -> Data:
        return two_classes(self.x[:, None], self.y)

    def _answers(self, plan: Plan) -> Answers:
        """Return the predictions of the rules of every k."""
        return answered(interval_rules(tuple(self.ks)), self._data, ZeroOne(), plan)

    @cached_property
    def labels(self) -> np.ndarray:
        """The predicted labels of the points, reused from swapping if available."""
        if "_swapping" in vars(self):
            return self._swapping.values[:, : len(self.x)]
        return self._answers(plan_of_rows(Apparent(), len(self.x))).values

    @cached_property
    def left_out(self) -> np.ndarray:
        """The label of each point by the rule that was trained without it."""
        return self._answers(plan_of_rows(LeaveOneOut(), len(self.x))).values

    @cached_property
    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of points, and of ones, in the interval of each point."""
        counts: np.ndarray | None = getattr(self._swapping.extra, "values", None)
        assert counts is not None
        return counts.sum(axis=2).round(), counts[..., 1]

    @cached_property
    def swaps(self) -> np.ndarray:
        """φ(xᵢ|1) − φ(xᵢ|0): whether the predicted label of a point follows or opposes its own."""
        own, flipped = np.split(self._swapping.values.astype(np.int8), 2, axis=1)
        return np.where(self.y == 1, own - flipped, flipped - own)

    @property
    def apparent(self) -> np.ndarray:
        """The empirical error rate."""
        return (self.labels != self.y).mean(axis=1)

    @property
    def leave_one_out(self) -> np.ndarray:
        """The leave-one-out error."""
        return (self.left_out != self.y).mean(axis=1)

    def penalty(self, n0: float = N0) -> np.ndarray:
        """Return S: (2/n) Σ p(1 − p) [φ(xᵢ|1) − φ(xᵢ|0)], with p shrunken to ½ by n0 rows."""
        sizes, ones = self.intervals
        p = (ones + n0 / 2) / (sizes + n0)
        return 2 * (p * (1 - p) * self.swaps).mean(axis=1)

    def criterion(self, n0: float = N0) -> np.ndarray:
        """Return L_n + S."""
        return self.penalty(n0) + self.apparent  # In this order the labels are computed once.

    @property
    def conditional(self) -> np.ndarray:
        """The conditional risk: the error for new labels of the same points."""
        return self._risk((self.labels != self.problem.target(self.x)).mean(axis=1))

    @cached_property
    def true(self) -> np.ndarray:
        """The exact true risk, since boundaries of rules are midway between points."""
        ends = self.x[:-1] / 2 + self.x[1:] / 2
        ones = self.problem.share_of_ones(ends)
        lengths = np.diff(ends, prepend=0.0, append=1.0)
        return self._risk(np.where(self.labels == 1, lengths - ones, ones).sum(axis=1))

    @property
    def risks(self) -> np.ndarray:
        """The empirical, conditional and true risks: EER, CER and TER."""
        return np.array([self.apparent, self.conditional, self.true])

    def _risk(self, misplaced: np.ndarray) -> np.ndarray:
        """Return the risk of a rule that differs from the target on this share."""
        noise = self.problem.noise
        return noise + (1 - 2 * noise) * misplaced


def kearns_trial(noise: float, n: int, seed: int, number: int) -> Trial:
    """Return trial `number` of the document's problem with n points, k = 1 … min(MOST, n)."""
    rng = stream(f"kearns {noise} {n}", seed, number)
    return Trial.draw(KearnsProblem(noise=noise), n, range(1, min(MOST, n) + 1), rng)


# ---------------------------------------------------------------- Figures 1 and 2

N, NOISE = 100, 0.2
NOISES = (0.1, 0.2, 0.3, 0.4)
KS = np.arange(1, MOST + 1)
TARGET = 10  # intervals of the target
# The entries are the target's number of intervals, the number of points, and the noise.
SITUATIONS = tuple(
    (d, n, noise) for d, n in ((10, 20), (10, 100), (10, 500), (100, 500)) for noise in NOISES
)
BEYOND = (1.0, 1.25, 1.5, 2.0)  # k relative to the target's number of intervals
NEARLY = 0.1  # share of the range of the bias within which curves count as nearly parallel
VANISHED = 0.02  # a difference that is invisible in a curve
TRIALS = 2000  # number of trials of the same recipe behind the numbers below
AT = {4: (0.292, 0.374, 0.407), 10: (0.148, 0.274, 0.300), 20: (0.081, 0.293, 0.313)} | {
    60: (0.0, 0.320, 0.336)
}
BIAS = {0.1: (0.134, 0.057), 0.2: (0.173, 0.126), 0.3: (0.206, 0.190), 0.4: (0.228, 0.237)}
AXIS = "number of intervals k"


def _replicate_1(seed: int, number: int) -> Draws:
    """Draw 100 points with noise .2, and compute the bias at k = 10 also for other noise levels."""
    trials = {noise: kearns_trial(noise, N, seed, number) for noise in NOISES}
    drawn, at = trials[NOISE], TARGET - 1
    biases = [(of.penalty()[at], (of.conditional - of.apparent)[at]) for of in trials.values()]
    return {
        "risks": drawn.risks,
        "S": drawn.penalty(),
        "biases": np.array(biases),
        "everywhere": np.array([_beyond_target(*of, seed, number) for of in SITUATIONS]),
    }


def _beyond_target(d: int, n: int, noise: float, seed: int, number: int) -> np.ndarray:
    """Return the risks from k = d on."""
    rng, ks = stream(f"kearns {noise} {n} {d}", seed, number), [int(d * by) for by in BEYOND]
    return Trial.draw(KearnsProblem(noise=noise, n_intervals=d), n, ks, rng).risks


@experiment(_replicate_1, replicates=2000, quick=100, unit="trials")
def kearns_figure_1(draws: Draws) -> Parts:
    """Daudin and Mary-Huard, Figure 1: risks of k intervals, and the bias.

    Daudin, Mary-Huard: Model selection in classification: the swapping method, §3.2

    the document draws these curves and prints no numbers.

    the earlier run printed .122 for CER − EER at noise .2; the .274 − .148 of its first table
    stands in its place.
    """
    risks = draws["risks"]
    at_k = {
        f"k = {k}: {name}": risks[:, i, k - 1]
        for k in AT
        for i, name in enumerate(("EER", "CER", "TER"))
    }
    yield _of_2000(f"mean risks, n = {N}, noise {NOISE}", at_k, *AT.values())
    at_10 = {
        f"noise {noise}: {name}": draws["biases"][:, j, i]
        for j, noise in enumerate(BIAS)
        for i, name in enumerate(("S", "CER − EER"))
    }
    title = f"estimated and conditional bias at k = {TARGET}, n = {N}"
    yield _of_2000(title, at_10, *BIAS.values())

    apparent, conditional, true = np.moveaxis(risks, 1, 0)
    rates = (
        mean_line("EER", KS, apparent, "k-", 2.4),
        *mean_lines(KS, {"CER": conditional, "TER": true}, ("k:", "k-")),
    )
    yield Panel("error rates", AXIS, "rate", rates)
    biases = {"estimated, S": draws["S"], "conditional, CER − EER": conditional - apparent}
    bold = mean_line("true, TER − EER", KS, true - apparent, "k-", 2.4)
    lines = (*mean_lines(KS, biases, ("k:", "k-")), bold)
    yield Panel("bias of the empirical error rate", AXIS, "bias", lines)

    every, nearly = risks[:, :, TARGET - 1 :], Claim("below", NEARLY)
    yield Statement.from_quantities(
        f"the curves of conditional and true risk are nearly parallel for k >= {TARGET}: "
        "TER − CER moves by less than a tenth of what CER − EER moves",
        Quantity.from_statistic("share", _share_moved, every, nearly, digits=3),
    )
    beyond = {
        f"d = {d}, n = {n}, noise {noise}": draws["everywhere"][:, place]
        for place, (d, n, noise) in enumerate(SITUATIONS)
    }
    yield Statement.from_quantities(
        "this behaviour is observed for any η, d and n: the same share from k = d to 2d",
        *(
            Quantity.from_statistic(at, _share_moved, of, nearly, digits=3)
            for at, of in beyond.items()
        ),
    )
    estimated, biased = draws["biases"].T
    excess = estimated - biased
    at = [{f"S − (CER − EER) at noise {n}": of} for n, of in zip(NOISES, excess, strict=True)]
    higher = {"its excess over that at noise 0.2": excess[0] - excess[1]}
    gone = Claim("near", 0.0, VANISHED)
    for text, quantities, claim in (
        ("S overestimates the conditional bias at noise 0.2", at[1], ABOVE),
        ("this overestimation is higher at noise 0.1", higher, ABOVE),
        (f"it vanishes at noise 0.3: no more than {VANISHED} is left", at[2], gone),
        ("it becomes an underestimation at noise 0.4", at[3], BELOW),
    ):
        yield Statement.from_quantities(text, quantities, claim=claim)


def _of_2000(title: str, values: Draws, *known: Sequence[float]) -> PaperTable:
    """Return a table of means with those of 2000 trials as reference."""
    pairs = zip(values.items(), chain(*known), strict=True)
    reference = {name: (mean, printed(of, TRIALS, 3)) for (name, of), mean in pairs}
    return PaperTable.from_values(title, f"{TRIALS} trials of this recipe", values, reference)


def _share_moved(trials: np.ndarray) -> float:
    """Return the range of TER − CER over k, as a share of the range of the bias."""
    apparent, conditional, true = trials.mean(axis=0)
    # The range is 0 if a few trials have no bias at all.
    moved = float(np.ptp(conditional - apparent))
    return float(np.ptp(true - conditional)) / max(moved, 1e-12)


SHOWN = (1, 4, 10, 20, 40, 60)
ZERO = 0.001  # maximum that counts as zero
N_LINES = 3  # number of trials in the figure


def _replicate_2(seed: int, number: int) -> Draws:
    """Compute the empirical risk and the criterion of 100 points with noise .2."""
    drawn = kearns_trial(NOISE, N, seed, number)
    return {"apparent": drawn.apparent, "criterion": drawn.criterion()}


@experiment(_replicate_2, replicates=2000, quick=100, unit="trials")
def kearns_figure_2(draws: Draws) -> Parts:
    """Daudin and Mary-Huard, Figure 2: the swapping criterion along k.

    Daudin, Mary-Huard: Model selection in classification: the swapping method, §3.2

    the document draws these curves and prints no numbers.
    """
    apparent, criterion = draws["apparent"], draws["criterion"]
    both = {"empirical": apparent, "empirical + S": criterion}
    shown = {f"k = {k}: {name}": values[:, k - 1] for k in SHOWN for name, values in both.items()}
    yield PaperTable.from_values(f"mean error rates, n = {N}, noise {NOISE}", "document", shown)
    single = tuple(
        Series(f"{name}, trial {t + 1}", KS, values[t], f"{colour}{style}")
        for t, style in enumerate(("-", "--", ":")[: len(criterion)])
        for name, values, colour in (("empirical", apparent, "k"), ("S", criterion, "C0"))
    )
    yield Panel(f"{N_LINES} trials", AXIS, "error rate", single)
    means = mean_lines(KS, both, ("k-", "C0-"))
    yield Panel("mean of all trials", AXIS, "error rate", means)

    def least(trials: np.ndarray) -> float:
        return float(KS[trials.mean(axis=0).argmin()])

    def gaps(*pairs: tuple[int, int]) -> dict[str, np.ndarray]:
        return {
            f"criterion at k = {high} − at k = {low}": criterion[:, high - 1]
            - criterion[:, low - 1]
            for high, low in pairs
        }

    yield Statement.from_quantities(
        f"the empirical error rate decreases to zero: below {ZERO} at k = {MOST}",
        {"its mean there": apparent[:, -1]},
        claim=Claim("below", ZERO),
    )
    yield Statement.from_quantities(
        f"the criterion decreases until k is about {TARGET}",
        gaps((1, 4), (4, TARGET)),
        Quantity.from_statistic(
            "k of its least mean", least, criterion, Claim("near", TARGET, 2), digits=1
        ),
    )
    yield Statement.from_quantities(
        f"the criterion then grows for k > {TARGET}",
        gaps(*((high, low) for low, high in pairwise((TARGET, 20, 40, MOST)))),
    )
