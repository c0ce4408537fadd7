"""The package without the experiments, and `reproduce` without the stores."""

from __future__ import annotations

from tests.support.missing import output_without

SAID = "this call needs {}, which is missing from this installation; install truerisk anew."
CALLS = """
import truerisk as tr
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from truerisk.cli import app

def tell(call):
    try:
        print(call())
    except Exception as error:
        print(f"{type(error).__name__}: {error}")

X, y = load_iris(return_X_y=True)
"""


def test_without_experiments_pages_are_written_and_reproduce_is_refused():
    code = """
estimate = tr.estimate_risk(GaussianNB(), X, y)
tell(lambda: "<svg" in estimate.to_html() and "<svg" in estimate._repr_html_())
tell(lambda: "<svg" in tr.ErrorPosterior(3, 50)._repr_html_())
tell(lambda: tr.experiments.reproduce)
app.sys.stderr = app.sys.stdout
try:
    app.run(["reproduce"])
except SystemExit:
    pass
"""
    found = output_without("truerisk.experiments", code=CALLS + code)
    refused = SAID.format("truerisk.experiments")
    assert found == ["True", "True", f"MissingBranch: {refused}", f"truerisk: {refused}"]


def test_without_studies_reproduce_runs_in_memory_and_refuses_a_store(tmp_path):
    code = f"""
run = tr.experiments.reproduce
tell(lambda: run("kearns-figure-2", replicates=2).replicates)
tell(lambda: run("kearns-figure-2", replicates=2, store={str(tmp_path / "runs.db")!r}))
"""
    found = output_without("truerisk.study", code=CALLS + code)
    assert found == ["2", f"MissingBranch: {SAID.format('truerisk.study')}"]
