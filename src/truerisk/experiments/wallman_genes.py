"""Experiment on Wallman's §6: genes chosen on all rows before the folds, or within each fold."""

from __future__ import annotations

import numpy as np

from truerisk.experiments.experiment import Draws, Sample, experiment, replicate_rng, two_class_data
from truerisk.experiments.figures import FindingParts, MeansGrid, Panel, mean_lines
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Family
from truerisk.methods import Apparent, KFold

N_TRAINING_AND_FRESH = N, N_FRESH = 50, 500
GENES = 500
GENE_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, GENES)
# The values are numbers of genes whose class means differ by 1.
N_INFORMATIVE_BY_PROBLEM = {"no gene tells": 0, "ten genes tell": 10}
APPARENT_ERROR, SELECTION_OUTSIDE_FOLDS, SELECTION_INSIDE_FOLDS, FRESH_ERROR = ESTIMATE_NAMES = (
    "its own rows",
    "folds, genes chosen on all rows",
    "folds, genes chosen in each",
    "fresh rows",
)
LINE_STYLES = "C4v:", "C1s--", "C0o-", "k^-."
SUBSTANTIAL_BIAS, BIAS_TOLERANCE = 0.05, 0.02


def _replicate(seed: int, replicate_number: int) -> Draws:
    """Estimate the error of 3-NN on the k best genes for every k.

    The genes are chosen on all rows, or on the training rows of each fold.
    """
    from sklearn.feature_selection import SelectKBest
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline

    draws: dict[str, np.ndarray] = {}
    classifier, gene_selector = KNeighborsClassifier(3), SelectKBest()
    family_with_selection = Family.from_grid(
        Pipeline([("genes", gene_selector), ("rule", classifier)]), {"genes__k": GENE_COUNTS}
    )
    for problem, n_informative in N_INFORMATIVE_BY_PROBLEM.items():
        columns = GENES, n_informative
        sample = Sample.draw_alternating(
            N_TRAINING_AND_FRESH, columns, 1.0, replicate_rng(problem, seed, replicate_number)
        )
        X, y = sample.data.X[:N], sample.data.y[:N]
        reduced_data_sets = [
            two_class_data(SelectKBest(k=k).fit_transform(X, y), y) for k in GENE_COUNTS
        ]
        risks_selected_outside = [
            Sample(reduced_data, N).risks(KFold(10), Family.from_grid(classifier), replicate_number)
            for reduced_data in reduced_data_sets
        ]
        errors = (
            sample.risks(Apparent(), family_with_selection, replicate_number),
            np.concatenate(risks_selected_outside),
            sample.risks(KFold(10), family_with_selection, replicate_number),
            sample.errors(family_with_selection).ravel(),
        )
        draws |= {
            f"{problem}: {estimate_name}": estimate_errors
            for estimate_name, estimate_errors in zip(ESTIMATE_NAMES, errors, strict=True)
        }
    return draws


@experiment(_replicate, replicates=200, quick=10)
def wallman_genes(draws: Draws) -> FindingParts:
    """Wallman (2005), §6: genes chosen before the folds.

    {N} rows of {GENES} genes, three nearest neighbours on those of largest F; the rule errs on its
    own rows, in ten folds, and on {N_FRESH} fresh rows
    """
    names, x_positions = tuple(map(str, GENE_COUNTS)), np.arange(1.0, len(GENE_COUNTS) + 1)
    apparent_biases, outside_biases, inside_biases = [], [], []
    for problem in N_INFORMATIVE_BY_PROBLEM:
        errors_by_estimate = {
            estimate_name: draws[f"{problem}: {estimate_name}"] for estimate_name in ESTIMATE_NAMES
        }
        outside_bias = errors_by_estimate[FRESH_ERROR] - errors_by_estimate[SELECTION_OUTSIDE_FOLDS]
        apparent_biases.append(
            _mean_differences(
                problem, errors_by_estimate[FRESH_ERROR] - errors_by_estimate[APPARENT_ERROR]
            )
        )
        outside_biases.append(_mean_differences(problem, outside_bias[:, :-1]))
        inside_biases.append(
            {
                f"{problem}: estimate − true": (
                    errors_by_estimate[SELECTION_INSIDE_FOLDS] - errors_by_estimate[FRESH_ERROR]
                ).mean(axis=1)
            }
        )
        yield MeansGrid.from_values(
            problem,
            names,
            {
                estimate_name: errors_by_estimate[estimate_name].T
                for estimate_name in ESTIMATE_NAMES
            },
            digits=3,
        )
        error_lines = mean_lines(x_positions, errors_by_estimate, LINE_STYLES)
        step_descriptions = tuple(
            map(
                _describe_step,
                GENE_COUNTS,
                *(
                    estimate_errors.T
                    for estimate_errors in (*errors_by_estimate.values(), outside_bias)
                ),
            )
        )
        axis_labels = "number of genes", "mean error"
        yield Panel(
            problem,
            *axis_labels,
            error_lines,
            names=names,
            limits=(0.0, 0.6),
            steps=step_descriptions,
        )
    yield Statement.from_quantities(
        "§2.2.1: the apparent error suffers from substantial optimistic bias: a twentieth or "
        "more, whatever the number of genes",
        *apparent_biases,
        claim=Claim("above", SUBSTANTIAL_BIAS),
    )
    yield Statement.from_quantities(
        "§6: bias occurs when cross-validation is used for feature selection, if improper test "
        "procedures are used: genes chosen on all rows",
        *outside_biases,
    )
    yield Statement.from_quantities(
        "§2.2.2: the error of cross-validation is approximately unbiased where each fold "
        "chooses its genes: within a fiftieth, on average over their numbers",
        *inside_biases,
        claim=Claim("near", 0.0, BIAS_TOLERANCE),
    )


def _mean_differences(problem: str, differences: np.ndarray) -> dict[str, np.ndarray]:
    gene_labels = ("1 gene" if k == 1 else f"{k} genes" for k in GENE_COUNTS)
    labelled_differences = zip(gene_labels, differences.T, strict=False)
    return {
        f"{problem}, {gene_label}: true − estimate": difference
        for gene_label, difference in labelled_differences
    }


def _describe_step(k: int, *errors: np.ndarray) -> str:
    """Return a sentence about the errors with k genes; ± is one standard error."""
    means = (Quantity.mean("", 100 * error_rates) for error_rates in errors)
    (
        apparent_error_text,
        outside_error_text,
        inside_error_text,
        fresh_error_text,
        outside_bias_text,
    ) = (f"{quantity.value:.1f} ± {quantity.std_error:.1f}" for quantity in means)
    remark = f"Choosing on all rows hides {outside_bias_text} points of it."
    return (
        f"{k} of {GENES} genes: the rule errs on {apparent_error_text} % of its own rows; in folds "
        "on "
        f"{outside_error_text} % where the genes were chosen on all rows, on {inside_error_text} % "
        f"where each fold chooses its own; and on {fresh_error_text} % of fresh rows. "
        + (remark if k < GENES else "All genes are kept: nothing is chosen, and nothing hidden.")
    )
