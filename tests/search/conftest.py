"""Data that tests of searches share."""

import pytest
from sklearn.datasets import load_wine


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True)
