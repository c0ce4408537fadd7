"""`--jobs` and `--n-jobs`: one or the other, and no number depends on them."""

import pytest
from tests.cli.conftest import QUICK, timeless
from tests.study.clusters import Cluster

SEARCH = """
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

def make(X, y):
    return GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=3)
"""


@pytest.fixture
def commands(table, tmp_path):
    """Each command that fits, with learners whose fits no fast engine makes."""
    search = tmp_path / "search.py"
    search.write_text(SEARCH)
    where = (table, "--target", "y", "--json")
    nested = ("--allow-import", "--level", "nested", "--outer", "3-fold")
    return {
        "estimate": ("estimate", *where, "--model", "forest", "--cv", "3-fold"),
        "assess": ("assess", *where, "--models", "forest", *QUICK),
        "audit": ("audit", f"{search}:make", *where, *nested),
    }


@pytest.mark.parametrize("word", ["estimate", "assess", "audit"])
def test_n_jobs_is_a_number_or_an_address(call, commands, word):
    """A word is neither, no worker is none, and an address is looked at."""
    for where, sentence in {
        "many": "give a number of worker processes, -1 for one per core, or dask://host:port",
        "0": "give a number of worker processes",
        "dask://nowhere": "write dask://host:port",
    }.items():
        said = call(*commands[word], "--n-jobs", where)
        assert (said.code != 0, said.out) == (True, "")
        assert sentence in said.err


def test_n_jobs_of_a_cluster_gives_the_numbers_of_one_process(call, commands):
    """By the address of its scheduler; a number is one of worker processes."""
    with Cluster(1) as cluster:
        for command in commands.values():
            here = timeless(call(*command).content)
            assert timeless(call(*command, "--n-jobs", cluster.address).content) == here
            if command[0] == "estimate":
                assert timeless(call(*command, "--n-jobs", "2").content) == here
