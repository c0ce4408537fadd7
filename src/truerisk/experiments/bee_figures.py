"""Experiments for Figures 1 and 4 and §3.1.2 of Huttunen and Tohka (2015).

These are error curves of five-fold cross-validation (CV-5) and of the Bayesian error estimate
(BEE), the prior of BEE, and run times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from truerisk.datasets import make_four_class
from truerisk.experiments.bee_choosing import (
    GENERATOR_NOTE,  # noqa: F401 - used in docstrings
    LAMBDAS,
    NOT_CONVERGED,
    ORACLE,
    REPLICATE_UNIT,
    TRAINING_SIZES,
    TrainedFamily,
    convergence_note,
    draw_sparse_gaussian,
    draw_synthetic_set,
    l1_logistic,
    linear_svms,
    mean_grid,
    methods_by_name,
    panel_by_training_rows,
    record_non_convergence,
    split_by_size,
)
from truerisk.experiments.experiment import (
    Draws,
    evaluate_method,
    experiment,
    index_of_first_minimum,
    predict_plan,
    replicate_rng,
    risk_values,
)
from truerisk.experiments.figures import (
    FindingParts,
    MeansGrid,
    Panel,
    PaperTable,
    Series,
    mean_line,
)
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Data, Streams
from truerisk.losses import ZeroOne
from truerisk.methods import BayesianError, KFold

# ---------------------------------------------------------------- Figure 1: error curves

N_ROWS = 500
# Figure 1 shows this number of cross-validation curves.
N_SHOWN_CURVES = 10
LOG_LAMBDAS = np.log10(LAMBDAS)
# The document draws its curves only for log10(λ) up to this value.
LARGEST_DRAWN_LOG_LAMBDA = -0.5
# Minima far from the median count as isolated if at most this percentage of curves has them.
MAX_ISOLATED_PERCENT = 5
# Two minima are near each other if they differ by at most 1.5 steps of the grid of penalties.
NEAR_LOG_DISTANCE = 0.15
# A minimum is far from the median if the penalties differ by a factor of four (10^0.6).
FAR_LOG_DISTANCE = 0.6
AXIS_LABEL = "log10(λ)"
sample_deviation = partial(np.std, ddof=1)


def _replicate_1(seed: int, replicate_number: int) -> Draws:
    """Return error curves over the penalties for one data set; replicates differ in the folds."""
    trained_family, curves = _path_and_bayesian_curves(seed)
    fold_seed = replicate_rng("bee-figure-1 folds", seed, replicate_number).integers(2**63)
    with record_non_convergence() as nonconvergence_flag:
        fold_curve = risk_values(trained_family.estimate_risks(KFold(5), int(fold_seed)))
    return {**curves, "CV-5": fold_curve, NOT_CONVERGED: nonconvergence_flag}


@lru_cache(maxsize=1)
def _path_and_bayesian_curves(seed: int) -> tuple[TrainedFamily, dict[str, np.ndarray]]:
    """Return the logistic path fitted to one data set, and its true and Bayesian error curves."""
    trained_family = TrainedFamily.from_family(
        l1_logistic(), draw_sparse_gaussian(replicate_rng("bee-figure-1", seed, 0), N_ROWS)
    )
    methods = methods_by_name(("BEEp", "BEEi"))
    bayesian_curves = {
        name: risk_values(trained_family.estimate_risks(method)) for name, method in methods.items()
    }
    return trained_family, {"true": trained_family.errors, **bayesian_curves}


@experiment(_replicate_1, replicates=500, quick=20, unit="draws of the folds")
def bee_figure_1(draws: Draws) -> FindingParts:
    """Huttunen and Tohka (2015), Figure 1: where the least error is found.

    {N_ROWS} rows of two classes, 20 features; L1 logistic regression, 36 penalties; 5-fold
    cross-validation with other folds each time

    the document shows one data set of its own generator; this is one of bee-table-2's.

    one data set tells nothing about who chooses better: bee-table-2 does. Numbers without a
    standard error (.0000) belong to this data set and vary with the seed alone.

    equal errors go to the largest penalty. The document says neither how it breaks such ties nor
    whether its folds are stratified; here they are.
    """
    yield convergence_note(draws[NOT_CONVERGED])
    curves, true_errors = draws["CV-5"], draws["true"][0]
    bayesian_curves = {name: draws[name][0] for name in ("BEEp", "BEEi")}
    chosen_indices, mean_name = (
        np.array([index_of_first_minimum(curve) for curve in curves]),
        "mean of all CV-5 curves",
    )
    minimum_indices = {mean_name: index_of_first_minimum(curves.mean(axis=0))}
    minimum_indices |= {
        name: index_of_first_minimum(curve) for name, curve in bayesian_curves.items()
    }
    minimum_indices["oracle"] = int(true_errors.argmin())
    errors = {
        "CV-5, mean over folds": true_errors[chosen_indices],
        "CV-5, worst of all folds": true_errors[chosen_indices].max(),
    }
    errors |= {name: true_errors[index] for name, index in minimum_indices.items()}
    yield PaperTable.from_values("true error of the chosen rule", "document", errors)
    log_lambdas = {"CV-5, mean over folds": [LOG_LAMBDAS[chosen_indices]]}
    log_lambdas |= {name: [LOG_LAMBDAS[index]] for name, index in minimum_indices.items()}
    yield MeansGrid.from_values("where the minimum lies", (AXIS_LABEL,), log_lambdas, digits=2)

    n_distinct_minima, largest_share = (
        len(np.unique(chosen_indices)),
        np.bincount(chosen_indices).max() / len(chosen_indices),
    )
    label = "standard deviation of the curves where their mean is least"
    yield Statement.from_quantities(
        "curves of CV-5 vary, and so does the place of their minimum",
        Quantity.from_statistic(label, sample_deviation, curves[:, minimum_indices[mean_name]]),
        Quantity.from_statistic(
            "standard deviation of log10(λ)",
            sample_deviation,
            LOG_LAMBDAS[chosen_indices],
            digits=2,
        ),
        remark=(
            f"{n_distinct_minima} different minima, the commonest in {100 * largest_share:.0f} %"
        ),
    )
    log_distances = np.abs(LOG_LAMBDAS[chosen_indices] - np.median(LOG_LAMBDAS[chosen_indices]))
    is_far, isolated_claim = (
        log_distances > FAR_LOG_DISTANCE,
        Claim("near", MAX_ISOLATED_PERCENT / 2, MAX_ISOLATED_PERCENT / 2),
    )
    yield Statement.from_quantities(
        "in isolated cases the minimum lies far from the majority: in some, but no more than "
        f"{MAX_ISOLATED_PERCENT} % farther than {FAR_LOG_DISTANCE} in log10(λ) from the median",
        Quantity.share("per cent of curves", is_far, isolated_claim),
        remark=f"{int(is_far.sum())} of {len(chosen_indices)}; the farthest "
        f"{log_distances.max():.1f}",
    )
    bayesian_minimum = float(LOG_LAMBDAS[minimum_indices["BEEp"]])

    def distance_from_bayesian_minimum(cv_curves: np.ndarray) -> float:
        return float(LOG_LAMBDAS[index_of_first_minimum(cv_curves.mean(axis=0))] - bayesian_minimum)

    near_claim = Claim("near", 0.0, NEAR_LOG_DISTANCE)
    yield Statement.from_quantities(
        "a mean of many CV-5 curves has its minimum where the Bayesian error has it: "
        "at most one penalty away",
        Quantity.from_statistic(
            "log10(λ) of the mean − of BEEp",
            distance_from_bayesian_minimum,
            curves,
            near_claim,
            digits=2,
        ),
        remark=f"BEEp has it at log10(λ) = {bayesian_minimum:.1f}",
    )

    is_drawn, index = LOG_LAMBDAS <= LARGEST_DRAWN_LOG_LAMBDA + 1e-9, [minimum_indices["BEEp"]]
    drawn_lines = tuple(
        Series("", LOG_LAMBDAS[is_drawn], curve[is_drawn], "-", 0.8)
        for curve in curves[:N_SHOWN_CURVES]
    )
    mean_curve = Series(
        f"mean of {len(curves)}", LOG_LAMBDAS[is_drawn], curves.mean(axis=0)[is_drawn], "k-", 2.4
    )
    # Where curves exceed the upper limit of the vertical axis, all of them increase.
    title, y_limits = f"{len(drawn_lines)} curves of CV-5, one data set", (0.0, 0.12)
    yield Panel(title, AXIS_LABEL, "error", (*drawn_lines, mean_curve), limits=y_limits)
    styles = {"BEEp": "r--", "BEEi": "r-", "true": "g-"}
    curve_lines = (
        Series(name, LOG_LAMBDAS[is_drawn], draws[name][0, is_drawn], style)
        for name, style in styles.items()
    )
    minimum_point = Series(
        "minimum of BEEp", LOG_LAMBDAS[index], bayesian_curves["BEEp"][index], "bo"
    )
    yield Panel(
        "Bayesian error and true error",
        AXIS_LABEL,
        "error",
        (*curve_lines, minimum_point),
        limits=y_limits,
    )
    minimum_counts = Series(
        "", LOG_LAMBDAS, np.bincount(chosen_indices, minlength=len(LOG_LAMBDAS)).astype(float)
    )
    yield Panel(
        f"minima of {len(chosen_indices)} curves",
        AXIS_LABEL,
        "curves",
        (minimum_counts,),
        kind="bars",
    )


# ---------------------------------------------------------------- §3.1.2, the prior weight κ

P = 20
FLAT, JEFFREYS, PROPER = -(P + 2), 0, P + 2
LARGEST_KAPPA = 8 * P
# The first two priors have no scale matrix (S = 0), the others have S = I.
METHODS_BY_KAPPA = {
    FLAT: BayesianError("flat", standardize=False),
    JEFFREYS: BayesianError("jeffreys", standardize=False),
} | {k: BayesianError(kappa=k, standardize=False) for k in (P, PROPER, 2 * P, 4 * P, LARGEST_KAPPA)}
KAPPAS = tuple(METHODS_BY_KAPPA)
# Without a scale matrix S each class needs this many rows to determine the covariances.
MIN_CLASS_ROWS = {FLAT: 2 * P + 2, JEFFREYS: P + 1}


def _replicate_priors(seed: int, replicate_number: int) -> Draws:
    """Return the smallest error estimate and its rule's true error for each size and weight κ.

    The training sets are those of Table 2.
    """
    estimates_and_errors = np.full((2, len(TRAINING_SIZES), len(KAPPAS)), np.nan)
    smallest_errors = np.empty(len(TRAINING_SIZES))
    for j, n_rows in enumerate(TRAINING_SIZES):
        with record_non_convergence():
            trained_family = TrainedFamily.from_family(
                l1_logistic(), draw_synthetic_set(seed, replicate_number, n_rows)
            )
        smallest_errors[j] = trained_family.errors.min()
        for i, (kappa, method) in enumerate(METHODS_BY_KAPPA.items()):
            if n_rows // 2 >= MIN_CLASS_ROWS.get(kappa, 0):
                estimates_and_errors[:, j, i] = trained_family.evaluate_choice(method)[:2]
    return {
        "estimate": estimates_and_errors[0],
        "error": estimates_and_errors[1],
        ORACLE: smallest_errors,
    }


@experiment(_replicate_priors, replicates=200, quick=20, unit=REPLICATE_UNIT)
def bee_priors(draws: Draws) -> FindingParts:
    """Huttunen and Tohka (2015), §3.1.2: the prior as a knob.

    L1 logistic regression, 36 penalties, {P} features; κ from {FLAT} to {LARGEST_KAPPA}

    {GENERATOR_NOTE}

    κ = −(P + 2) and κ = 0 have no S and no ν; the others have S = I and ν = ½, as printed with
    κ = P + 2 = {PROPER}; such an S needs κ above P − 1. Where a class has too few rows there is no
    posterior, and a dash.

    from κ = {PROPER} on the least estimate is far too low: it ranks the rules, and is no error rate
    to report.
    """
    estimates, errors, smallest_errors = (draws[name] for name in ("estimate", "error", ORACLE))
    names = [
        f"κ = {k}" + (f", {method.prior}" if k in MIN_CLASS_ROWS else "")
        for k, method in METHODS_BY_KAPPA.items()
    ]
    titles = {"estimate": "least estimate", "error": "true error of the rule that has it"}
    for name, title in titles.items():
        values_by_kappa = dict(zip(names, np.moveaxis(draws[name], 2, 0), strict=True))
        yield mean_grid(values_by_kappa, TRAINING_SIZES, title)
    yield mean_grid({ORACLE: smallest_errors}, TRAINING_SIZES, "least true error of all rules")

    errors_with_proper_prior = errors[:, :, KAPPAS.index(PROPER)]
    for kappa in (JEFFREYS, FLAT):
        size_indices = [j for j, n in enumerate(TRAINING_SIZES) if n // 2 >= MIN_CLASS_ROWS[kappa]]
        differences = (errors[:, :, KAPPAS.index(kappa)] - errors_with_proper_prior)[
            :, size_indices
        ]
        yield Statement.from_quantities(
            f"a strong prior, κ = P + 2, is beneficial for the choice: beside κ = {kappa}",
            split_by_size(
                f"error with κ = {kappa} − with {PROPER}",
                differences,
                [TRAINING_SIZES[j] for j in size_indices],
            ),
            digits=5,
        )
    missing_rows = (
        Quantity.from_exact_value(
            f"rows of each class it needs − there are, n = {n}", MIN_CLASS_ROWS[FLAT] - n // 2
        )
        for n in TRAINING_SIZES[:2]
    )
    yield Statement.from_quantities(
        "the flat prior easily becomes underdetermined with few samples", *missing_rows
    )

    for j, n_rows in enumerate(TRAINING_SIZES):
        size_indices = np.isfinite(errors[0, j])
        kappas = np.array(KAPPAS)[size_indices]
        mean_curves = (
            mean_line("least estimate", kappas, estimates[:, j, size_indices], "C0o-"),
            mean_line("true error of its rule", kappas, errors[:, j, size_indices], "C1s-"),
            mean_line(
                "least true error", kappas, np.repeat(smallest_errors[:, [j]], len(kappas), 1), "k:"
            ),
        )
        yield Panel(f"n = {n_rows}", "κ", "error", mean_curves)


# ---------------------------------------------------------------- Figure 4: run times

# These training-set sizes are 10, 25, 50 and 100 % of the document's training rows.
TRAINING_SIZES_4 = (73, 182, 364, 727)
N_FEATURES = 408
FOUR_CLASS_PROBLEM = make_four_class.with_noise_features(
    N_FEATURES - (make_four_class.n_features - 6)
)
SVM_ENGINE_CHOICE = "SVM CV-5, engine svm"
FIVE_FOLDS_ONLY = "LR, five folds alone"
TIMING_LINE_STYLES = {
    "LR CV-5": "b-",
    "LR BEEp": "r-",
    "SVM CV-5": "b--",
    "SVM BEEp": "r--",
    SVM_ENGINE_CHOICE: "g--",
}
# The document says that CV-5 takes 3 to 3.5 times as long as the Bayesian choice.
CLAIMED_TIME_RATIOS = (3, 3.5)
# This is the number of repetitions of five-fold cross-validation.
N_REPEATS = 100
COMPARED_CHOICES = (
    ("LR CV-5", "LR BEEp"),
    ("SVM CV-5", "SVM BEEp"),
    (SVM_ENGINE_CHOICE, "SVM BEEp"),
)


def _replicate_4(seed: int, replicate_number: int) -> Draws:
    """Measure the time of all choices for four classes and 408 features.

    The MEG data of the document have 408 features, too.
    """
    _warm_up()
    seconds_by_size = [
        _time_choices(
            n, replicate_rng(f"bee-figure-4 {n}", seed, replicate_number), replicate_number
        )
        for n in TRAINING_SIZES_4
    ]
    return {
        name: np.array([seconds_by_choice[name] for seconds_by_choice in seconds_by_size])
        for name in (*TIMING_LINE_STYLES, FIVE_FOLDS_ONLY)
    }


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """Run every timed choice once, so that no module is imported while the time is measured."""
    _time_choices(40, np.random.default_rng(0), 0)


def _time_choices(n_rows: int, rng: np.random.Generator, seed: int) -> dict[str, float]:
    """Return the processor seconds that every choice takes on one training set.

    The time of other processes is not counted. Cross-validation with five folds fits every
    candidate five times. One fit on all rows is counted in addition, as in the document. BEE needs
    only this fit.
    """
    X, y = FOUR_CLASS_PROBLEM(n_rows, random_state=rng)
    data, loss = Data.check(X, y, task="classification"), ZeroOne()
    cv_method, bayesian_method = KFold(5), BayesianError(standardize=False)
    plan_on_all_rows = bayesian_method.plan(data, Streams(0))

    def time_call(task: Callable[..., object], *arguments: object) -> float:
        start_time = time.process_time()
        task(*arguments)
        return time.process_time() - start_time

    logistic_family, svm_family = l1_logistic(), linear_svms()
    fold_seconds = time_call(evaluate_method, cv_method, logistic_family, data, loss, seed)
    return {
        FIVE_FOLDS_ONLY: fold_seconds,
        "LR CV-5": fold_seconds
        + time_call(predict_plan, logistic_family, data, loss, plan_on_all_rows),
        "LR BEEp": time_call(evaluate_method, bayesian_method, logistic_family, data, loss, seed),
        "SVM CV-5": time_call(evaluate_method, cv_method, svm_family, data, loss, seed, "generic")
        + time_call(predict_plan, svm_family, data, loss, plan_on_all_rows),
        "SVM BEEp": time_call(evaluate_method, bayesian_method, svm_family, data, loss, seed),
        SVM_ENGINE_CHOICE: time_call(
            evaluate_method, cv_method, svm_family, data, loss, seed, "svm"
        ),
    }


@experiment(_replicate_4, replicates=10, quick=2, unit=REPLICATE_UNIT)
def bee_figure_4(draws: Draws) -> FindingParts:
    """Huttunen and Tohka (2015), Figure 4: running time of choosing one model.

    L1 logistic regression (LR, 36 penalties), linear machines (SVM, 13 costs), 408 features

    seconds of one processor of this machine: they do not depend on the seed alone, and do not
    compare with the document's; their ratios do.

    the MEG data could not be had: four classes (the document: five) with as many features, and as
    many rows.

    cross-validation fits five parts and all rows, as the document counts it. For machines both
    sides are fits of SVC; engine svm answers the five folds (without all rows) from one matrix of
    inner products.
    """
    seconds = {name: draws[name] for name in TIMING_LINE_STYLES}
    ratios = {
        f"{slow_choice} / {fast_choice}": draws[slow_choice] / draws[fast_choice]
        for slow_choice, fast_choice in COMPARED_CHOICES
    }
    yield mean_grid(seconds, TRAINING_SIZES_4, "seconds of one choice")
    yield mean_grid(ratios, TRAINING_SIZES_4, "how many times as long")
    lowest_ratio, highest_ratio = CLAIMED_TIME_RATIOS
    for label in ("LR", "SVM"):
        mean_ratios = ratios[f"{label} CV-5 / {label} BEEp"].mean(axis=1)
        yield Statement.from_quantities(
            f"{label}: CV-5 takes {lowest_ratio:g} to {highest_ratio:g} times as long as the "
            "Bayesian choice",
            {"how many times, over all sizes": mean_ratios},
            claim=Claim(
                "near", (lowest_ratio + highest_ratio) / 2, (highest_ratio - lowest_ratio) / 2
            ),
            digits=2,
        )
    repeated_cv_ratio = (draws["LR CV-5"] + (N_REPEATS - 1) * draws[FIVE_FOLDS_ONLY]) / draws[
        "LR BEEp"
    ]
    yield Statement.from_quantities(
        f"{N_REPEATS} times CV-5 costs about 400 times as much: from 300 to 500 times",
        {"LR, over all sizes": repeated_cv_ratio.mean(axis=1)},
        claim=Claim("near", 400, 100),
    )
    yield panel_by_training_rows(
        "one choice of the penalty", "seconds", TRAINING_SIZES_4, seconds, TIMING_LINE_STYLES
    )
    yield panel_by_training_rows(
        "the same on a logarithmic scale",
        "seconds",
        TRAINING_SIZES_4,
        seconds,
        TIMING_LINE_STYLES,
        log=True,
    )
    styles = {
        ratio_name: TIMING_LINE_STYLES[slow_choice]
        for ratio_name, (slow_choice, _) in zip(ratios, COMPARED_CHOICES, strict=True)
    }
    yield panel_by_training_rows(
        "how many times as long", "ratio of seconds", TRAINING_SIZES_4, ratios, styles
    )
