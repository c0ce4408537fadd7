"""Studies without the worker processes, which run their tasks."""

from __future__ import annotations

import pytest
from tests.support.missing import output_without

CALLS = {
    "study": "tr.Study({}, 'runs.db')",
    "store of a search": "tr.HonestSearchCV(GaussianNB(), store='fits.db').fit(X, y)",
    "command": "app.run(['study', 'status', '--store', 'runs.db'])",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_names_the_workers_that_are_missing(call, tmp_path):
    code = f"""
import os
import truerisk as tr
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from truerisk.cli import app

os.chdir({str(tmp_path)!r})
X, y = load_iris(return_X_y=True)
app.sys.stderr = app.sys.stdout
try:
    {call}
except Exception as error:
    print(error)
except SystemExit:
    pass
"""
    (said,) = output_without("truerisk.engines.workers", code=code)
    assert "this call needs truerisk.engines.workers, which is missing" in said
