"""The experiments of the documents, run again: our numbers beside theirs.

Frame
    experiment.py   `Experiment`: replicates that depend on (seed, number) alone, drawn in batches,
                    here or on an executor, or kept in a store; and its report
    report.py       findings: rows and tables; as text and as JSON
    statements.py   sentences of a document judged by tests: holds, does not hold, undecided
    figures.py      figures as data, drawn to PNG and SVG
    evaluating.py   a method on a data set; rows to learn from and fresh ones
Daudin and Mary-Huard
    kearns.py            the interval problem, every k at once; Figures 1 and 2
    kearns_figure_3.py   choosing k by swapping; colon_table_1.py on the colon data
Wallman
    double_cv.py            double cross-validation of nearest neighbours; Table 1, Figure 4
    wallman_comparison.py   Figure 5, and the problems of Figure 1
    wallman_bias.py         why the bias occurs; the posterior of an error
Huttunen and Tohka
    bee_choosing.py   the choices of all methods on one training set, and their errors
    bee_report.py     methods by sizes, and who errs less than whom
    bee_figures.py    Figures 1 and 4; bee_real.py Figures 2 and 3; bee_tables.py the tables
INSA lecture
    insa.py            polynomials and bootstrap samples; insa_optimism.py errors by complexity
    insa_ozone.py      tuned learners; aicc_simulation.py what AICc estimates
Mehta
    mehta.py           three parts, extreme rules, rare classes; mehta_spam.py ROC curves

To add one: an `Experiment` in the file of its document, and its word and sentence below.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from truerisk.core.registry import Line, Registry

if TYPE_CHECKING:
    from truerisk.papers.report import Report

__all__ = ["names", "registry", "reproduce"]

FILES = {
    "double_cv": "wallman-table-1 wallman-figure-4",
    "wallman_comparison": "wallman-figure-5 wallman-figure-1",
    "wallman_bias": "wallman-posterior wallman-bias",
    "kearns": "kearns-figure-1 kearns-figure-2",
    "kearns_figure_3": "kearns-figure-3",
    "colon_table_1": "colon-table-1",
    "mehta": "mehta-three-way mehta-rules",
    "mehta_spam": "mehta-spam",
    "insa": "insa-polynomial insa-bootstrap",
    "insa_optimism": "insa-optimism insa-decomposition",
    "insa_ozone": "insa-ozone",
    "bee_figures": "bee-figure-1 bee-figure-4",
    "bee_real": "bee-figure-2 bee-figure-3 bee-figure-3-end",
    "bee_tables": "bee-table-2 bee-table-3 bee-table-4",
    "aicc_simulation": "aicc-simulation",
}
ABOUT = {
    "wallman-table-1": "internal, external and true error of double cross-validation",
    "wallman-figure-4": "the same errors in pairs, over data sets",
    "wallman-figure-5": "a tuned choice of classifier against a fixed one, by five measures",
    "wallman-posterior": "the posterior of a true error: four measures, and "
    "how often its bound holds",
    "wallman-figure-1": "1000 points of each class of the four problems, and their Bayes risks",
    "wallman-bias": "why the error of a chosen classifier is too small: "
    "what is reported, and of what",
    "kearns-figure-1": "empirical, conditional and true risk of k intervals; "
    "the bias and its estimate",
    "kearns-figure-2": "empirical risk and swapping criterion of k intervals",
    "kearns-figure-3": "choosing k by swapping, by leave-one-out, and by the oracle",
    "colon-table-1": "the same three for nearest neighbours on the colon "
    "data (needs TRUERISK_DATA)",
    "mehta-three-way": "train, validate, test: what each error estimates, beside cross-validation",
    "mehta-rules": "the constant, the memoriser and rare classes: training "
    "error, test error, thresholds",
    "mehta-spam": "ROC curves of three models of the spam data (needs TRUERISK_DATA)",
    "insa-polynomial": "R² and Cp of polynomial regression by its degree",
    "insa-bootstrap": "bootstrap samples with their trees, and the three "
    "bootstrap estimates of the error",
    "insa-optimism": "training and test error as the complexity grows",
    "insa-decomposition": "Bayes risk, approximation error and estimation "
    "error by degree and by rows",
    "insa-ozone": "nine tuned learners on the ozone data: box plots, ROC "
    "curves (needs TRUERISK_DATA)",
    "bee-figure-1": "curves of cross-validation on one data set, and that of the Bayesian error",
    "bee-figure-2": "both choices on ovarian cancer and Adult, by training "
    "rows (needs TRUERISK_DATA)",
    "bee-figure-3": "both choices on Yeast and Satellite, by training rows (needs TRUERISK_DATA)",
    "bee-figure-3-end": "both choices on all training rows of Satellite, by "
    "folds (needs TRUERISK_DATA)",
    "bee-figure-4": "seconds of both choices, by training rows",
    "bee-table-2": "the penalty chosen by the Bayesian error estimate, by CV and by EBIC",
    "bee-table-3": "the cost of support vector machines chosen by the "
    "Bayesian error estimate and by CV",
    "bee-table-4": "both of them with four classes",
    "aicc-simulation": "AICc, AIC and the printed price against what they estimate",
}

registry = Registry(
    "experiment",
    {
        word: Line(f"truerisk.papers.{file}:{word.replace('-', '_')}", about)
        for word, about in ABOUT.items()
        for file, words in FILES.items()
        if word in words.split()
    },
)
"""Word -> the experiment and one sentence about it."""


def names() -> list[str]:
    """The words that `reproduce` knows.

    >>> names()[0]
    'wallman-table-1'
    """
    return registry.names()


def reproduce(
    name: str,
    *,
    quick: bool = False,
    replicates: int | None = None,
    seed: int = 0,
    executor: Any = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Report:
    """Run the experiment of that word.

    Parameters
    ----------
    name : str
        ``names()`` lists the words.
    quick : bool
        A first look: fewer replicates.
    replicates : int, optional
        How many; by default the experiment's own number.
    seed : int
    executor : None, int or executor
        This process, that many worker processes, or anything with ``submit``; the numbers do not
        depend on it. With a store also ``"dask://host:port"``.
    store : path, optional
        A file that keeps every replicate as it is found (`truerisk.study`).
    resume : bool
        Go on with the replicates that the store holds.
    """
    from truerisk.papers.experiment import run

    return run(
        registry.load(name),
        quick=quick,
        replicates=replicates,
        seed=seed,
        executor=executor,
        store=store,
        resume=resume,
    )
