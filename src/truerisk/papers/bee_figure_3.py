"""002, Figure 3: several classes, real data: the test error of the choice by the number of rows."""

from __future__ import annotations

from typing import ClassVar

from truerisk.papers.bee_real import LAST, RealSet, RealSetsFigure, Said

__all__ = ["BeeFigure3", "bee_figure_3"]


class BeeFigure3(RealSetsFigure):
    """Yeast (10 classes, 8 features) and Satellite (6 classes, 36 features)."""

    word: ClassVar[str] = "bee-figure-3"
    title: ClassVar[str] = "Huttunen and Tohka (2015), Figure 3: several classes, real data"
    replicates: ClassVar[int] = 20
    quick: ClassVar[int] = 2
    sets: ClassVar[tuple[RealSet, ...]] = (
        RealSet("yeast", (148, 297, 594, 1113)),
        RealSet("satellite", (222, 443, 1109, 2218), pool=4435),
    )
    said: ClassVar[tuple[Said, ...]] = (
        *(
            ("yeast", learner, name, "CV-5", 0)
            for learner in ("LR", "SVM")
            for name in ("BEEp", "BEEi")
        ),
        *(("yeast", learner, "BEEp", "CV-5", LAST) for learner in ("LR", "SVM")),
        ("yeast", "SVM", "BEEp", "BEEi", 0),
        *(("satellite", learner, "BEEp", "CV-5", 0) for learner in ("LR", "SVM")),
        *(
            ("satellite", learner, "CV-5", name, LAST)
            for name in ("BEEi", "BEEp")
            for learner in ("LR", "SVM")
        ),
    )
    notes: ClassVar[tuple[str, ...]] = (
        "the document draws curves and prints no numbers. Its MEG data could not be had.",
        (
            "with several classes the Bayesian estimates are pairwise errors (equation 3). They "
            "may exceed 1, and rank only."
        ),
        (
            "training rows are drawn at random, but at least two of each class: from one row BEEi "
            "has no posterior. Of Yeast's rarest class there are five; folds may lack it."
        ),
        (
            "Yeast's rows that are not drawn are tested; 31 of its rows repeat another, and may "
            "stand on both sides. Satellite has 2000 test rows of its own; neighbouring pixels "
            "are alike."
        ),
        "features are standardised in each training set. The document does not say whether.",
        (
            "half of Satellite's training rows are the most that are drawn: all 4435 are one "
            "training set, that of bee-figure-3-end."
        ),
    )


bee_figure_3 = BeeFigure3()
