"""The checks of scikit-learn that an estimator of ours has to pass, as parameters of a test."""

from collections.abc import Collection, Iterator
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def estimator_checks(*models: Any, without: Collection[str] = ()) -> Iterator[Any]:
    """Each check of each model, less array API input, which is not claimed, and those named."""
    for place, model in enumerate(models):
        for number, (estimator, check) in enumerate(estimator_checks_generator(model)):
            name = check.func.__name__
            if not name.startswith("check_array_api") and name not in without:
                label = f"{type(model).__name__}-{place}-{name}-{number}"
                yield pytest.param(estimator, check, id=label)
