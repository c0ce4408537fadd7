"""002, Figure 2: two classes, real data: the test error of the choice by the number of rows."""

from __future__ import annotations

from typing import ClassVar

from truerisk.papers.bee_real import LAST, RealSet, RealSetsFigure, Said

__all__ = ["BeeFigure2", "bee_figure_2"]

REPEATS = 100  # as in the document, for ovarian cancer along the path
REPEATED = f"{REPEATS}×CV-5"


class BeeFigure2(RealSetsFigure):
    """Ovarian cancer (4000 spectral features) and Adult (123 indicators)."""

    word: ClassVar[str] = "bee-figure-2"
    title: ClassVar[str] = "Huttunen and Tohka (2015), Figure 2: two classes, real data"
    replicates: ClassVar[int] = 25
    quick: ClassVar[int] = 2
    sets: ClassVar[tuple[RealSet, ...]] = (
        RealSet("ovarian", (22, 43, 86, 130), repeats=REPEATS),
        RealSet("a1a", (160, 400, 800, 1605), pool=1605, scaled=False),
    )
    said: ClassVar[tuple[Said, ...]] = (
        ("ovarian", "LR", "BEEp", "CV-5", 0),
        ("ovarian", "LR", "BEEp", "CV-5", LAST),
        ("ovarian", "SVM", "BEEp", "CV-5", 0),
        ("ovarian", "LR", "BEEp", REPEATED, 0),
        ("ovarian", "LR", REPEATED, "CV-5", LAST),
        ("ovarian", "SVM", "BEEp", "BEEi", LAST),
        ("a1a", "LR", "CV-5", "BEEp", 0),
        ("a1a", "LR", "BEEp", "CV-5", LAST),
        ("a1a", "SVM", "BEEp", "CV-5", 0),
        ("a1a", "SVM", "BEEp", "CV-5", LAST),
    )
    notes: ClassVar[tuple[str, ...]] = (
        "the document draws curves and prints no numbers. Its MEG data could not be had.",
        (
            "ovarian has 4000 of the document's 15,000 features, and is another version of the "
            "data; the rows that are not drawn are tested, so training and test sets overlap from "
            "one replicate to the next: standard errors hold for these 216 spectra."
        ),
        (
            f"repeated cross-validation draws {REPEATS} times 5 folds, as in the document. At "
            "n = 1605 Adult has one training set, and replicates differ in their folds alone."
        ),
        (
            "Bayesian estimates are of standardised features. Machines get the spectra "
            "standardised in each training set, and Adult's indicators as they are. The document "
            "says neither."
        ),
    )


bee_figure_2 = BeeFigure2()
