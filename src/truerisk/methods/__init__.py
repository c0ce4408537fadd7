"""Ways to estimate risk: each draws a plan and reduces its answers; none sees a learner.

| file | methods |
|---|---|
| `apparent.py` | the training risk |
| `kfold.py` | K-fold, repeated, stratified, grouped; reversed |
| `leave_one_out.py` | leave-one-out |
| `approximate_leave_one_out.py` | leave-one-out to first order, from one fit |
| `holdout.py` | hold-out and Monte-Carlo |
| `splitter.py` | any scikit-learn splitter, given splits |
| `swapping.py` | the apparent risk plus what following every label costs |
| `complete.py`, `exact_out_of_bag.py` | all training sets of a size; all bootstrap samples |
| `bootstrap.py` | naive, leave-one-out, .632, .632+, optimism |
| `replicated.py`, `no_information.py`, `infinitesimal_jackknife.py` | what the bootstrap needs |
| `out_of_bag.py` | each row tested by the members of a forest that missed it |
| `three_way.py`, `nested.py` | tune inside, test outside |
| `ncv.py`, `pair_spread.py` | nested cross-validation of Bates et al.: how far K-fold may be off |
| `corrected_choice.py`, `bbc.py` | what choosing the best of many answers costs |
| `paired_halves.py` | random splits of all rows, and of disjoint halves |
| `criteria.py`, `likelihood.py` | Cp, GCV, AIC, AICc, BIC: a price per degree of freedom |
| `ebic.py` | the extended BIC of linear models |
| `bayesian_error.py` | the error of linear classifiers from one fit |
| `bolstered.py`, `bolstered_sampling.py`, `kernel_width.py` | rows spread over Gaussians |
| `rule_risks.py`, `rule_errors.py`, `class_errors.py` | their posteriors and risks |
| `error_law.py`, `scaled_rows.py` | the law of a score; rows as linear rules see them |
| `averages.py`, `instability.py`, `tuning.py` | what they share |
| `interval_forms/`, `asked_interval.py` | intervals by name; the method that one is made from |
| `words.py` | the registry of words |
"""

from importlib import import_module
from typing import Any

_WITHOUT_WORD = {
    "BolsteredBySampling": "bolstered_sampling",
    "GivenSplits": "splitter",
    "Splitter": "splitter",
}

__all__ = ["GivenSplits", "Splitter", "as_method", "names", "registry"]


def names() -> list[str]:
    """The words that `method=` takes.

    >>> import truerisk as tr
    >>> tr.methods.names()[:3]
    ['apparent', 'holdout', 'K-fold']
    """
    from truerisk.methods.words import registry

    return registry.names()


def __getattr__(name: str) -> Any:
    """The registry and every class that one of its lines names."""
    words = import_module("truerisk.methods.words")  # `from` would ask here again
    if name in ("as_method", "registry"):
        return getattr(words, name)
    if name in _WITHOUT_WORD:
        return getattr(import_module(f"truerisk.methods.{_WITHOUT_WORD[name]}"), name)
    for line in words.registry.values():
        if line.where.endswith(f":{name}"):
            return line.load()
    from truerisk.core.registry import no_attribute

    raise no_attribute(__name__, name, __dir__())


def __dir__() -> list[str]:
    """What completion offers: the functions and every class."""
    lines = import_module("truerisk.methods.words").registry.values()
    classes = (line.where.rpartition(":")[2] for line in lines)
    return sorted({*__all__, *_WITHOUT_WORD, *(c for c in classes if c[0].isupper())})
