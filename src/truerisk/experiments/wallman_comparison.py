"""Experiments for Figures 5 and 1 of Wallman (2005): choosing a classifier, or fixing one.

Figure 5 compares a tuned choice of classifier with a classifier that is fixed in advance. Figure 1
shows the four problems of Figure 5 as points, and the Bayes error of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from truerisk import ErrorPosterior
from truerisk.datasets import (
    GaussianProblem,
    make_colon2d,
    make_difficult,
    make_highleyman,
    make_simple,
)
from truerisk.experiments.experiment import (
    Draws,
    Sample,
    evaluate_method,
    experiment,
    plan_from_splits,
    predict_plan,
    replicate_rng,
)
from truerisk.experiments.figures import (
    BAND_STD_ERRORS,
    FindingParts,
    MeansGrid,
    Panel,
    PaperTable,
    Series,
)
from truerisk.experiments.statements import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Claim,
    Quantity,
    Statement,
    share_std_error,
)
from truerisk.extend import Data, Family
from truerisk.losses import ZeroOne
from truerisk.methods import ReversedKFold
from truerisk.models import FisherClassifier, ParzenClassifier

N, N_TUNING, N_TRAINING, N_FOLDS = 180, 120, 30, 5
VALIDATION_PER_CLASS = 2500
MEASURES = ("ub", "50 %", "q2", "err", "true")
# The horizontal positions of the bars, one for each measure.
BAR_POSITIONS = np.arange(1.0, len(MEASURES) + 1)
LEARNER_NAMES = ("3-NN", "tree", "Parzen", "Fisher")
# This is the index of the learner that a2 fixes in advance.
NEAREST_NEIGHBOUR_INDEX = 0
# The Parzen classifier chooses its widths by this criterion by default.
DEFAULT_WIDTH_CRITERION = "lissack-fu"
MAX_TAIL_PROBABILITY = 1e-3
# At least this percentage of data sets counts as "almost every case".
ALMOST_ALL_PERCENT = 95


@dataclass(frozen=True)
class WallmanCase:
    """Problem, width criterion of the Parzen classifier, and the winners that Wallman names."""

    name: str
    problem: GaussianProblem
    # The winner ("1" for a1 or "2" for a2) by each measure.
    winner_by_measure: str
    width_criterion: str = DEFAULT_WIDTH_CRITERION


ROTATED_HIGHLEYMAN = make_highleyman.rotated(45)
WALLMAN_CASES = (
    WallmanCase("simple", make_simple, "22111"),
    WallmanCase("difficult", make_difficult, "12111"),
    WallmanCase("Highleyman, Lissack-Fu widths", ROTATED_HIGHLEYMAN, "22222"),
    WallmanCase(
        "Highleyman, likelihood widths",
        ROTATED_HIGHLEYMAN,
        "22222",
        width_criterion="maximum-likelihood",
    ),
    WallmanCase("colon", make_colon2d, "22212"),
)
# Each pair holds the wins of a1 and of a2 in 1000 data sets of an earlier run of this recipe.
EARLIER_WIN_COUNTS = {
    "simple": ((444, 556), (47, 953), (608, 392), (657, 324), (800, 199)),
    "difficult": ((881, 119), (222, 778), (941, 59), (963, 35), (1000, 0)),
}


def _replicate_figure_5(seed: int, replicate_number: int) -> Draws:
    """Compare two ways to use 180 rows: to choose a classifier (a1), or to fix one (a2).

    a1 is the best of four classifiers by 5-fold reversed cross-validation of 120 rows. It is then
    trained on 30 of these rows and tested on the other 60 of the 180 rows. a2 is 3-NN, trained on
    30 rows and tested on the other 150.
    """
    draws: dict[str, np.ndarray] = {}
    for wallman_case in WALLMAN_CASES:
        # Cases with the same problem use the same data.
        rng = replicate_rng(
            f"wallman comparison {wallman_case.problem.name}", seed, replicate_number
        )
        data, row_order = _draw_rows_and_order(wallman_case.problem, rng)
        tuning_rows, test_rows = row_order[:N_TUNING], row_order[N_TUNING:]
        # Reversed folds: each fit is trained on 24 of the 120 rows, and tested on the other 96.
        reversed_kfold = ReversedKFold(
            N_FOLDS, folds=np.argsort(tuning_rows) % N_FOLDS, average="pooled"
        )
        tuning_data, learners = (
            data.subset(np.sort(tuning_rows)),
            classifiers(wallman_case.width_criterion),
        )
        estimates = [
            evaluate_method(reversed_kfold, learner, tuning_data, ZeroOne(), 0).tested
            for learner in learners
        ]
        # If several classifiers have the same smallest error, `argmin` chooses the first one.
        chosen_index = int(np.argmin([estimate.value for (estimate,) in estimates]))
        training_rows = rng.permutation(tuning_rows)[:N_TRAINING]
        chosen_learner_measures = _measure_learner(
            learners[chosen_index], data, training_rows, test_rows
        )
        fixed_learner_measures = _measure_learner(
            learners[NEAREST_NEIGHBOUR_INDEX], data, *np.split(rng.permutation(N), [N_TRAINING])
        )
        draws |= {
            # A verdict is 1 if a1 did better than a2, −1 if it did worse, and 0 if they are tied.
            f"{wallman_case.name}: verdicts": np.sign(
                fixed_learner_measures - chosen_learner_measures
            ).astype(int),
            f"{wallman_case.name}: choice": np.array(chosen_index),
            f"{wallman_case.name}: above ½": np.array(
                [chosen_learner_measures[1], fixed_learner_measures[1]]
            ),
        }
    return draws


@lru_cache(maxsize=2)
def classifiers(width_criterion: str = DEFAULT_WIDTH_CRITERION) -> tuple[Family, ...]:
    """Return the four classifiers of the document in its order, each as a family."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    return (
        Family.from_grid(KNeighborsClassifier(3)),
        Family.from_grid(DecisionTreeClassifier(criterion="entropy", random_state=0)),
        Family.from_grid(
            ParzenClassifier(width_criterion, per_class=width_criterion == "maximum-likelihood")
        ),
        Family.from_grid(FisherClassifier()),
    )


def _draw_rows_and_order(
    problem: GaussianProblem, rng: np.random.Generator
) -> tuple[Data, np.ndarray]:
    """Draw 180 rows followed by validation rows; return the data and a random order of the 180.

    The order defines folds and training sets, without regard to class. An order in which a fold of
    24 or a set of 30 rows has a single class (one in 10⁷) is drawn again.
    """
    data = Sample.draw(problem, ((N // 2,) * 2, (VALIDATION_PER_CLASS,) * 2), rng).data
    while True:
        row_order = rng.permutation(N)
        if all(0 < data.y[row_order[fold:N_TUNING:N_FOLDS]].mean() < 1 for fold in range(N_FOLDS)):
            return data, row_order


def _measure_learner(
    learner: Family, data: Data, training_rows: np.ndarray, test_rows: np.ndarray
) -> np.ndarray:
    """Return four error measures on the test rows and the error on the validation rows.

    The learner is trained on the training rows.
    """
    validation_rows = np.arange(N, data.n_rows)
    plan = plan_from_splits(
        data.n_rows, (training_rows, test_rows), (training_rows, validation_rows)
    )
    predicted_labels = predict_plan(learner, data, ZeroOne(), plan).values[0]
    test_errors, validation_errors = np.split(
        predicted_labels != data.codes_of(plan.positions[0]), [len(test_rows)]
    )
    measures = ErrorPosterior(int(test_errors.sum()), len(test_rows)).measures()
    return np.array([*measures, validation_errors.mean()])


@experiment(_replicate_figure_5, replicates=1000, quick=20)
def wallman_figure_5(draws: Draws) -> FindingParts:
    """Wallman (2005), Figure 5: to choose a classifier, or to fix one.

    who does better by (ub), (50 %), (q2), (err) and on a large test set (true)

    the document draws bars and prints no counts; its winners are said in words (§4.2). Highleyman
    depends on the width of the Parzen kernels, which it does not print: both are shown.

    the parameters of 'colon' are unpublished: ours are estimated from the colon data.

    folds, training and test sets are drawn without regard to class, a1's 30 rows from its 120,
    a2's from all 180. Equal scores are a win of neither. Every data set has 5000 fresh validation
    rows.
    """
    wins: dict[str, list[Quantity]] = {}
    choice_shares: dict[str, list[Quantity]] = {}
    for wallman_case in WALLMAN_CASES:
        name = wallman_case.name
        verdicts = draws[f"{name}: verdicts"]
        win_shares_by_classifier = [
            [
                Quantity.share(measure, has_won)
                for measure, has_won in zip(MEASURES, is_winner.T, strict=True)
            ]
            for is_winner in (verdicts > 0, verdicts < 0)
        ]
        wins |= {
            f"{name}: a{classifier_number}": win_shares
            for classifier_number, win_shares in enumerate(win_shares_by_classifier, start=1)
        }
        chosen_indices = draws[f"{name}: choice"]
        choice_shares[name] = [
            Quantity.share("", chosen_indices == learner_index)
            for learner_index in range(len(LEARNER_NAMES))
        ]
        if name in EARLIER_WIN_COUNTS:
            yield _table_of_wins(name, win_shares_by_classifier)
        yield from _statements_on_wins(wallman_case, *win_shares_by_classifier)

        bars = tuple(
            Series.from_quantities(f"a{classifier_number}", BAR_POSITIONS, win_shares)
            for classifier_number, win_shares in enumerate(win_shares_by_classifier, start=1)
        )
        winner_indices = np.array([int(winner) - 1 for winner in wallman_case.winner_by_measure])
        winner_shares = [
            win_shares_by_classifier[winner_index][measure_index]
            for measure_index, winner_index in enumerate(winner_indices)
        ]
        marker_heights = np.array(
            [
                winner_share.value + BAND_STD_ERRORS * winner_share.std_error
                for winner_share in winner_shares
            ]
        )
        # The marker is over the bar of the winner.
        marker_positions = BAR_POSITIONS + 0.4 * winner_indices - 0.2
        marker = Series(
            "the document's winner", marker_positions, marker_heights.clip(max=100) + 4, "kv"
        )
        yield Panel(
            name, "measure", "wins in per cent", (*bars, marker), "bars", MEASURES, (0, 100)
        )
    yield MeansGrid.from_values("wins in per cent, by each measure", MEASURES, wins, digits=1)
    yield MeansGrid.from_values(
        "what a1 chose, in per cent", LEARNER_NAMES, choice_shares, digits=1
    )
    probabilities_above_half = np.concatenate(
        [draws[f"{case.name}: above ½"] for case in WALLMAN_CASES], axis=1
    )
    yield Statement.from_quantities(
        f"the mass above 50 % is in almost every case ({ALMOST_ALL_PERCENT} %) far below 1/1000",
        {
            "per cent of tests below 1/1000": 100
            * (probabilities_above_half < MAX_TAIL_PROBABILITY).mean(axis=1)
        },
        claim=Claim("above", ALMOST_ALL_PERCENT),
        digits=1,
    )


def _table_of_wins(name: str, win_shares_by_classifier: list[list[Quantity]]) -> PaperTable:
    """Return a table of the wins, with the wins in the earlier run as reference."""
    computed_shares = {
        f"a{classifier_number}, {share.name}": share
        for classifier_number, measure_shares in enumerate(win_shares_by_classifier, start=1)
        for share in measure_shares
    }
    shares = np.array(EARLIER_WIN_COUNTS[name]).T.ravel() / 1000
    earlier_shares = {
        share_name: (100 * earlier_share, share_std_error(earlier_share, 1000))
        for share_name, earlier_share in zip(computed_shares, shares.tolist(), strict=True)
    }
    title = f"{name}: wins in per cent, against 1000 data sets of this recipe"
    return PaperTable.from_values(title, "1000 sets", computed_shares, earlier_shares, digits=1)


def _statements_on_wins(
    wallman_case: WallmanCase,
    chosen_learner_shares: list[Quantity],
    fixed_learner_shares: list[Quantity],
) -> FindingParts:
    """Yield a statement for every measure: the classifier that Wallman names wins more often.

    Wallman names the winners, a1 or a2, in §4.2.
    """
    for winner, chosen_learner_share, fixed_learner_share in zip(
        wallman_case.winner_by_measure, chosen_learner_shares, fixed_learner_shares, strict=True
    ):
        p1, p2, n = (
            chosen_learner_share.value / 100,
            fixed_learner_share.value / 100,
            chosen_learner_share.n_replicates or 1,
        )
        # Shrunken shares are used, so that the standard error is not 0 if one of the shares is 0.
        shrunken_p1, shrunken_p2 = ((share * n + 1) / (n + 3) for share in (p1, p2))
        std_error = 100 * float(
            np.sqrt((shrunken_p1 + shrunken_p2 - (shrunken_p1 - shrunken_p2) ** 2) / n)
        )
        name, claim = (
            "wins of a1 − wins of a2, per cent",
            ABOVE_ZERO if winner == "1" else BELOW_ZERO,
        )
        yield Statement.from_quantities(
            f"{wallman_case.name}, ({chosen_learner_share.name}): a{winner} has the higher score",
            Quantity(name, 100 * float(p1 - p2), std_error, n, claim, digits=1),
            remark=f"a1 {chosen_learner_share.value:.1f} %, a2 {fixed_learner_share.value:.1f} %",
        )


# ----------------------------------------------------------- Figure 1: points of the four problems

POINTS_PER_CLASS = 1000
PROBLEMS = tuple({case.problem.name: case.problem for case in WALLMAN_CASES}.values())


def _replicate_1(seed: int, replicate_number: int) -> Draws:
    """Compute the error of the Bayes rule on 1000 points of each class, for every problem.

    The points are kept in the first replicate only, which is in the figure.
    """
    draws: dict[str, np.ndarray] = {}
    for problem in PROBLEMS:
        rng = replicate_rng(f"wallman figure 1 {problem.name}", seed, replicate_number)
        X, y = problem((POINTS_PER_CLASS, POINTS_PER_CLASS), shuffle=False, random_state=rng)
        draws[f"{problem.name}: error"] = np.array((problem.bayes_rule(X) != y).mean())
        draws[f"{problem.name}: points"] = X if replicate_number == 0 else np.zeros_like(X)
    return draws


@experiment(_replicate_1, replicates=200, quick=20)
def wallman_figure_1(draws: Draws) -> FindingParts:
    """Wallman (2005), Figure 1: the four two-class distributions.

    1000 points of each class; two Gaussians each, partly overlapping

    'simple' has means 2 apart, which gives the numbers of Table 1; the generator's default is 1.
    'difficult' is the 2006 form of PRTools, and Highleyman's is turned by 45 degrees.

    the parameters of the document's 'colon' are unpublished; ours are those of two of its genes.
    """
    errors = {problem.name: draws[f"{problem.name}: error"] for problem in PROBLEMS}
    exact_errors = {problem.name: problem.bayes_risk for problem in PROBLEMS}
    yield PaperTable.from_values("error of the best rule", "by formula", errors, exact_errors)
    yield Statement.from_quantities(
        "all of them are two partially overlapping Gaussian distributions: even the best rule errs",
        errors,
    )
    for name in errors:
        classes = zip(("C0.", "C3."), np.split(draws[f"{name}: points"][0], 2), strict=True)
        point_series = tuple(
            Series(f"class {label}", X[:, 0], X[:, 1], style, size=2.0)
            for label, (style, X) in enumerate(classes)
        )
        yield Panel(name, "x1", "x2", point_series)
