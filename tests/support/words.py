"""The words of learners that can be built here: boosters of other packages where these are."""

from importlib.util import find_spec

from truerisk.models import names

__all__ = ["built_here"]

PACKAGES = ("xgboost", "lightgbm", "catboost")


def built_here() -> list[tuple[str, str]]:
    """(word, task) of every learner whose package is installed; `make test-partners` has them."""
    return [
        (word, task)
        for task in ("classification", "regression")
        for word in names(task)
        if word not in PACKAGES or find_spec(word) is not None
    ]
