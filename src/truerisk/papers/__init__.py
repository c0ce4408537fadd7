"""The experiments of the documents, run again: our numbers beside theirs.

Frame
    experiment.py   `Experiment`: replicates that depend on (seed, number) alone, and findings
    running.py      replicates in batches, here or on an executor; stored.py keeps them in a store
    report.py       rows and tables; as text and as JSON
    statements.py   sentences of a document judged by tests: holds, does not hold, undecided
    figures.py      figures as data, drawn to PNG and SVG
Shared by several
    double_cv.py    Wallman's double cross-validation of nearest neighbours
    lecture.py      the lecture's curve and its polynomials
    ozone_learners.py  the learners of the ozone data
    evaluating.py   a method on a data set
    bee_synthetic.py  two normal classes with 14 features that tell them apart
    bee_choosing.py   the choices of all methods on one training set, and their errors
    bee_real.py       training sets of real data of several sizes
    bee_report.py     methods by sizes, and who errs less than whom
    kearns.py       Kearns' interval problem: apparent, conditional and true risk, LOO, swapping
Experiments (`names()`), one file each, named like their words

To add one: a file with an `Experiment`, and one line in `registry`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from truerisk.core.registry import Line, Registry

if TYPE_CHECKING:
    from truerisk.papers.report import Report

__all__ = ["names", "registry", "reproduce"]

registry = Registry(
    "experiment",
    {
        "wallman-table-1": Line(
            "truerisk.papers.wallman_table_1:wallman_table_1",
            "internal, external and true error of double cross-validation",
        ),
        "wallman-figure-4": Line(
            "truerisk.papers.wallman_figure_4:wallman_figure_4",
            "the same errors in pairs, over data sets",
        ),
        "wallman-figure-5": Line(
            "truerisk.papers.wallman_figure_5:wallman_figure_5",
            "a tuned choice of classifier against a fixed one, by five measures",
        ),
        "wallman-posterior": Line(
            "truerisk.papers.wallman_posterior:wallman_posterior",
            "the posterior of a true error: four measures, and how often its bound holds",
        ),
        "wallman-figure-1": Line(
            "truerisk.papers.wallman_figure_1:wallman_figure_1",
            "1000 points of each class of the four problems, and their Bayes risks",
        ),
        "wallman-bias": Line(
            "truerisk.papers.wallman_bias:wallman_bias",
            "why the error of a chosen classifier is too small: what is reported, and of what",
        ),
        "kearns-figure-1": Line(
            "truerisk.papers.kearns_figure_1:kearns_figure_1",
            "empirical, conditional and true risk of k intervals; the bias and its estimate",
        ),
        "kearns-figure-2": Line(
            "truerisk.papers.kearns_figure_2:kearns_figure_2",
            "empirical risk and swapping criterion of k intervals",
        ),
        "kearns-figure-3": Line(
            "truerisk.papers.kearns_figure_3:kearns_figure_3",
            "choosing k by swapping, by leave-one-out, and by the oracle",
        ),
        "colon-table-1": Line(
            "truerisk.papers.colon_table_1:colon_table_1",
            "the same three for nearest neighbours on the colon data (needs TRUERISK_DATA)",
        ),
        "mehta-three-way": Line(
            "truerisk.papers.mehta_three_way:mehta_three_way",
            "train, validate, test: what each error estimates, beside cross-validation",
        ),
        "mehta-rules": Line(
            "truerisk.papers.mehta_rules:mehta_rules",
            "the constant, the memoriser and rare classes: training error, test error, thresholds",
        ),
        "mehta-spam": Line(
            "truerisk.papers.mehta_spam:mehta_spam",
            "ROC curves of three models of the spam data (needs TRUERISK_DATA)",
        ),
        "insa-polynomial": Line(
            "truerisk.papers.insa_polynomial:insa_polynomial",
            "R² and Cp of polynomial regression by its degree",
        ),
        "insa-bootstrap": Line(
            "truerisk.papers.insa_bootstrap:insa_bootstrap",
            "bootstrap samples with their trees, and the three bootstrap estimates of the error",
        ),
        "insa-optimism": Line(
            "truerisk.papers.insa_optimism:insa_optimism",
            "training and test error as the complexity grows",
        ),
        "insa-decomposition": Line(
            "truerisk.papers.insa_decomposition:insa_decomposition",
            "Bayes risk, approximation error and estimation error by degree and by rows",
        ),
        "insa-ozone": Line(
            "truerisk.papers.insa_ozone:insa_ozone",
            "nine tuned learners on the ozone data: box plots, ROC curves (needs TRUERISK_DATA)",
        ),
        "bee-figure-1": Line(
            "truerisk.papers.bee_figure_1:bee_figure_1",
            "curves of cross-validation on one data set, and that of the Bayesian error",
        ),
        "bee-figure-2": Line(
            "truerisk.papers.bee_figure_2:bee_figure_2",
            "both choices on ovarian cancer and Adult, by training rows (needs TRUERISK_DATA)",
        ),
        "bee-figure-3": Line(
            "truerisk.papers.bee_figure_3:bee_figure_3",
            "both choices on Yeast and Satellite, by training rows (needs TRUERISK_DATA)",
        ),
        "bee-figure-3-end": Line(
            "truerisk.papers.bee_figure_3_end:bee_figure_3_end",
            "both choices on all training rows of Satellite, by folds (needs TRUERISK_DATA)",
        ),
        "bee-figure-4": Line(
            "truerisk.papers.bee_figure_4:bee_figure_4",
            "seconds of both choices, by training rows",
        ),
        "bee-table-2": Line(
            "truerisk.papers.bee_table_2:bee_table_2",
            "the penalty chosen by the Bayesian error estimate, by CV and by EBIC",
        ),
        "bee-table-3": Line(
            "truerisk.papers.bee_table_3:bee_table_3",
            "the cost of support vector machines chosen by the Bayesian error estimate and by CV",
        ),
        "bee-table-4": Line(
            "truerisk.papers.bee_table_4:bee_table_4",
            "both of them with four classes",
        ),
        "aicc-simulation": Line(
            "truerisk.papers.aicc_simulation:aicc_simulation",
            "AICc, AIC and the printed price against what they estimate",
        ),
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
    from truerisk.papers.running import run

    return run(
        registry.load(name),
        quick=quick,
        replicates=replicates,
        seed=seed,
        executor=executor,
        store=store,
        resume=resume,
    )
