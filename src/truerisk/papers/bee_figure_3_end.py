"""002, Figure 3, bottom, its last point: all rows of Satellite, where only folds are drawn."""

from __future__ import annotations

from typing import ClassVar

from truerisk.papers.bee_real import LAST, RealSet, RealSetsFigure, Said

__all__ = ["BeeFigure3End", "bee_figure_3_end"]


class BeeFigure3End(RealSetsFigure):
    """One training set of 4435 rows: the Bayesian choices are fixed, those of CV-5 vary."""

    word: ClassVar[str] = "bee-figure-3-end"
    title: ClassVar[str] = "Huttunen and Tohka (2015), Figure 3: all training rows of Satellite"
    replicates: ClassVar[int] = 12
    quick: ClassVar[int] = 2
    unit: ClassVar[str] = "draws of the folds"
    sets: ClassVar[tuple[RealSet, ...]] = (RealSet("satellite", (4435,), pool=4435, plain=True),)
    said: ClassVar[tuple[Said, ...]] = tuple(
        ("satellite", learner, "CV-5", name, LAST)
        for name in ("BEEp", "BEEi")
        for learner in ("LR", "SVM")
    )
    notes: ClassVar[tuple[str, ...]] = (
        "the document draws curves and prints no numbers.",
        (
            "there is one training set and one test set of 2000 rows: standard errors are over "
            "draws of the folds, and say nothing about other rows. The document's last point is "
            "made so, too."
        ),
        "features are standardised in the training set. The document does not say whether.",
    )


bee_figure_3_end = BeeFigure3End()
