"""`--jobs` and `--n-jobs`: one or the other, and no number depends on them."""

from __future__ import annotations

import pytest
from tests.cli.conftest import QUICK
from tests.study.clusters import Cluster

SEARCH = """
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

def make(X, y):
    return GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=3)
"""


def commands(table, tmp_path):
    """Each command that fits, with learners whose fits no fast engine makes."""
    search = tmp_path / "search.py"
    search.write_text(SEARCH)
    where = ("--target", "y", "--json")
    return {
        "estimate": ("estimate", table, *where, "--model", "forest", "--cv", "3-fold"),
        "assess": ("assess", table, *where, "--models", "forest", *QUICK),
        "audit": (
            *("audit", f"{search}:make", table, *where, "--allow-import"),
            *("--level", "nested", "--outer", "3-fold"),
        ),
    }


def timeless(document):
    """A document without seconds."""
    if isinstance(document, dict):
        return {name: timeless(v) for name, v in document.items() if "seconds" not in name}
    return [timeless(v) for v in document] if isinstance(document, list) else document


@pytest.mark.parametrize("word", ["estimate", "assess", "audit"])
def test_where_fits_run_is_a_number_or_an_address(call, table, tmp_path, word):
    """A word is neither, no worker is none, and an address is looked at."""
    command = commands(table, tmp_path)[word]
    for where, sentence in {
        "many": "give a number of worker processes, -1 for one per core, or dask://host:port",
        "0": "give a number of worker processes",
        "dask://nowhere": "write dask://host:port",
    }.items():
        said = call(*command, "--n-jobs", where)
        assert (said.code != 0, said.out) == (True, "")
        assert sentence in said.err


def test_a_cluster_gives_the_numbers_of_one_process(call, table, tmp_path):
    """By the address of its scheduler; a number is one of worker processes."""
    with Cluster(1) as cluster:
        for command in commands(table, tmp_path).values():
            here = timeless(call(*command).content)
            assert timeless(call(*command, "--n-jobs", cluster.address).content) == here
            if command[0] == "estimate":
                assert timeless(call(*command, "--n-jobs", "2").content) == here
