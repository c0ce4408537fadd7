"""Experiments of the publications, run again: our numbers are compared with the printed ones.

experiment.py   `Experiment`: replicates that depend on (seed, number) alone; samples of training
                rows and of rows that measure the error
reproducing.py  `reproduce`: replicates drawn in batches, here or on an executor, or kept in a store
statements.py   sentences of a document judged by tests: holds, does not hold, undecided
figures.py      a report of rows, tables and figures, as text, JSON, PNG and SVG

The registry below lists all experiments, each with its name and a sentence. Their files are:

Daudin and Mary-Huard   kearns.py, kearns_figure_3.py, colon_table_1.py
Wallman                 double_cv.py, wallman_comparison.py, wallman_bias.py, wallman_genes.py,
                        wallman_no_free_lunch.py
Huttunen and Tohka      bee_figures.py, bee_real.py, bee_tables.py; their parts: bee_choosing.py,
                        the choices of all methods by number of training rows, and their errors
INSA lecture            insa.py, insa_optimism.py, insa_ozone.py
Mehta                   mehta.py

To add an experiment, write an `Experiment` in the file of its document, with public names alone,
and add its name and a sentence to the registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truerisk.core.registry import Registry, lazy_attributes, parse_registry_table

if TYPE_CHECKING:
    from truerisk.experiments.reproducing import reproduce

__all__ = ["names", "registry", "reproduce"]


registry = Registry(
    "experiment",
    parse_registry_table(
        "truerisk.experiments",
        """
    wallman-table-1  double_cv:wallman_table_1
        internal, external and true error of double cross-validation
    wallman-figure-4  double_cv:wallman_figure_4  the same errors in pairs, over data sets
    wallman-figure-5  wallman_comparison:wallman_figure_5
        a tuned choice of classifier against a fixed one, by five measures
    wallman-posterior  wallman_bias:wallman_posterior
        the posterior of a true error: four measures, and how often its bound holds
    wallman-figure-1  wallman_comparison:wallman_figure_1
        1000 points of each class of the four problems, and their Bayes risks
    wallman-bias  wallman_bias:wallman_bias
        why the error of a chosen classifier is too small: what is reported, and of what
    wallman-choices  wallman_bias:wallman_choices
        the same bias for neighbours, genes, components and the classifier, side by side
    wallman-genes  wallman_genes:wallman_genes
        genes chosen on all rows or in each fold: four errors, with a slider on the page
    wallman-no-free-lunch  wallman_no_free_lunch:wallman_no_free_lunch
        all targets on six points: every learner errs equally often, even random guessing
    kearns-figure-1  kearns:kearns_figure_1
        empirical, conditional and true risk of k intervals; the bias and its estimate
    kearns-figure-2  kearns:kearns_figure_2  empirical risk and swapping criterion of k intervals
    kearns-figure-3  kearns_figure_3:kearns_figure_3
        choosing k by swapping, by leave-one-out, and by the oracle
    colon-table-1  colon_table_1:colon_table_1
        the same three for nearest neighbours on the colon data (needs TRUERISK_DATA)
    mehta-three-way  mehta:mehta_three_way
        train, validate, test: what each error estimates, beside cross-validation
    mehta-rules  mehta:mehta_rules
        the constant, the memoriser and rare classes: training error, test error, thresholds
    mehta-spam  mehta:mehta_spam
        ROC curves of three models of the spam data (needs TRUERISK_DATA)
    insa-polynomial  insa:insa_polynomial  R² and Cp of polynomial regression by its degree
    insa-bootstrap  insa:insa_bootstrap
        bootstrap samples with their trees, and the three bootstrap estimates of the error
    insa-optimism  insa_optimism:insa_optimism  training and test error as the complexity grows
    insa-decomposition  insa_optimism:insa_decomposition
        Bayes risk, approximation error and estimation error by degree and by rows
    insa-folds  insa:insa_folds
        the error of 2, 5, 10 and n folds: bias and spread, where they matter and where not
    insa-ozone  insa_ozone:insa_ozone
        nine tuned learners on the ozone data: box plots, ROC curves (needs TRUERISK_DATA)
    bee-figure-1  bee_figures:bee_figure_1
        curves of cross-validation on one data set, and that of the Bayesian error
    bee-figure-2  bee_real:bee_figure_2
        both choices on ovarian cancer and Adult, by training rows (needs TRUERISK_DATA)
    bee-figure-3  bee_real:bee_figure_3
        both choices on Yeast and Satellite, by training rows (needs TRUERISK_DATA)
    bee-figure-3-end  bee_real:bee_figure_3_end
        both choices on all training rows of Satellite, by folds (needs TRUERISK_DATA)
    bee-figure-4  bee_figures:bee_figure_4  seconds of both choices, by training rows
    bee-table-2  bee_tables:bee_table_2
        the penalty chosen by the Bayesian error estimate, by CV and by EBIC
    bee-table-3  bee_tables:bee_table_3
        the cost of support vector machines chosen by the Bayesian error estimate and by CV
    bee-table-4  bee_tables:bee_table_4  both of them with four classes
    bee-priors  bee_figures:bee_priors
        the prior as a knob: the estimate, and the error of the choice, along κ
    aicc-simulation  insa_optimism:aicc_simulation
        AICc, AIC and the printed price against what they estimate
    """,
    ),
)
"""Registry: name of each experiment, the object that runs it, and a sentence about it."""


def names() -> list[str]:
    """Return the names of the experiments that `reproduce` can run.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    truerisk.experiments.reproduce : Run an experiment.

    Examples
    --------
    >>> names()[0]
    'wallman-table-1'
    """
    return registry.names()


if not TYPE_CHECKING:  # Type checkers would otherwise assume that every name exists.
    __getattr__, __dir__ = lazy_attributes(
        __name__, __all__, {"reproduce": f"{__name__}.reproducing"}
    )
