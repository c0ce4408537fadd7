"""What a validation found, in sentences, which papers it rests on, and how to make it again."""

from __future__ import annotations

from truerisk.core.present import clean, number
from truerisk.report.methods_text import Repeat, arguments
from truerisk.validation.validation import Validation

HARRELL = "Harrell FE (2015). Regression Modeling Strategies. 2nd edition, Springer."
COX = (
    "Cox DR (1958). Two further applications of a model for binary regression. Biometrika "
    "45:562–565."
)
VAN_CALSTER = (
    "Van Calster B, Nieboer D, Vergouwe Y, De Cock B, Pencina MJ, Steyerberg EW (2016). A "
    "calibration hierarchy for risk models was defined: from utopia to empirical data. Journal of "
    "Clinical Epidemiology 74:167–176."
)
AUSTIN = (
    "Austin PC, Steyerberg EW (2019). The Integrated Calibration Index (ICI) and related metrics "
    "for quantifying the calibration of logistic regression models. Statistics in Medicine "
    "38:4051–4065."
)
VICKERS = (
    "Vickers AJ, Elkin EB (2006). Decision curve analysis: a novel method for evaluating "
    "prediction models. Medical Decision Making 26:565–574."
)
STEYERBERG = "Steyerberg EW (2019). Clinical Prediction Models. 2nd edition, Springer."


def verdict(document: Validation) -> list[str]:
    """What was found, in sentences."""
    texts, calibration = [], document.calibration
    of_event = calibration is None or calibration.event is not None
    for word, sentence in (SENTENCES if of_event else OF_NUMBERS).items():
        one = document.measure(word)
        if one is None or one.honest is None:
            continue
        ends = ""
        if one.interval is not None:
            ends = f" (95 % interval {one.interval})".replace(
                "95 %", f"{100 * one.interval.confidence_level:g} %"
            )
        own = "" if one.apparent is None else f"; on the training rows it is {number(one.apparent)}"
        texts.append(sentence.format(f"{number(one.honest)}{ends}{own}"))
    return texts


SENTENCES = {
    "auc": "On held-out rows the AUC is {}.",
    "slope": "The calibration slope is {}; below 1 probabilities are too extreme.",
    "in-the-large": "Calibration in the large is {}; above 0 probabilities are too small.",
    "brier": "The Brier score is {}.",
}
OF_NUMBERS = {
    "explained": "On held-out rows R² is {}.",
    "slope": "The calibration slope is {}; below 1 answers are too far apart.",
    "in-the-large": "Calibration in the large is {}; above 0 answers are too small.",
}


def validated_by(document: Validation) -> list[str]:
    """The papers behind it."""
    papers = [STEYERBERG]
    papers += [COX, VAN_CALSTER, AUSTIN] if document.calibration is not None else []
    papers += [VICKERS] if document.net_benefit is not None else []
    return [*papers, HARRELL] if document.n_samples or document.calibration else papers


def validated_again(document: Validation) -> Repeat:
    """The call, and what it depends on."""
    typed = {"replicates": str(document.n_samples), **document.given}
    call = clean(f"tr.validate(search, X, y, {', '.join(arguments(typed))})", 1000)
    facts = [
        ("seed", str(document.risk.seed)),
        ("data fingerprint", clean(document.risk.data_fingerprint, 80)),
        ("engine", clean(document.risk.engine, 60)),
        *((clean(name, 40), clean(one, 40)) for name, one in document.risk.versions.items()),
    ]
    return Repeat(call, tuple(facts))
