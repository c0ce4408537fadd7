"""The page of an audit states a gate that can be copied, and that fails where it should."""

import html
import re
import shlex

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tests.report.conftest import told

import truerisk as tr
from truerisk.cli.app import run

X, Y = tr.datasets.make_simple(60, random_state=3)
LOSSES = np.random.default_rng(0).integers(0, 2, size=(6, 40))
TARGETS = {"accuracy": Y, "roc_auc": Y, "neg_mean_squared_error": 30 * X[:, 0], "r2": X[:, 0]}


def gate_of(page: str) -> str:
    """Return the gate that the page offers for copying."""
    (gate,) = re.findall(r'<pre id="gate-call"[^>]*>(.*?)</pre>', page, re.DOTALL)
    return html.unescape(gate)


def stricter(gate: str) -> str:
    """Return the gate with a bound that is stricter by one in its second digit."""
    head, bound, tail = re.fullmatch(r"(.*[= ])(-?[\d.]+)(\)?)", gate, re.DOTALL).groups()
    step = 10 ** (np.floor(np.log10(abs(float(bound)))) - 1)
    is_score = "fail-above" not in head and "zero_one" not in head
    return f"{head}{float(bound) + (step if is_score else -step):.6g}{tail}"


@pytest.mark.parametrize("scoring", [*TARGETS, "zero-one"])
def test_gate_of_a_call_is_met_as_written_and_missed_one_step_stricter(scoring):
    if scoring == "zero-one":
        names, call = {"losses": LOSSES}, "tr.audit_table(losses, scoring='zero-one')"
    else:
        model = (
            KNeighborsClassifier() if scoring in ("accuracy", "roc_auc") else KNeighborsRegressor()
        )
        search = GridSearchCV(model, {"n_neighbors": [3, 9, 15]}, scoring=scoring)
        names = {"search": search.fit(X, TARGETS[scoring]), "X": X, "y": TARGETS[scoring]}
        call = "tr.audit(search, X, y)"
    gate = gate_of(eval(call, {"tr": tr, **names}).to_html())
    exec(gate, dict(names))
    with pytest.raises(tr.exceptions.BoundMissed):
        exec(stricter(gate), dict(names))
    assert gate.startswith("import truerisk as tr\n\n# ")
    assert all(re.search(rf"^# .*\b{name}\b.*: ", gate, re.MULTILINE) for name in names)


def exit_code_of(command: str) -> int:
    """Run a command as it is typed."""
    with pytest.raises(SystemExit) as ended:
        run(shlex.split(command)[1:])
    return int(ended.value.code or 0)


@pytest.mark.parametrize("name", ["losses.csv", "-losses.csv", "the 'é' of $HOME.csv"])
def test_gate_of_a_command_is_that_command_with_a_bound(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    np.savetxt(name, LOSSES.T, delimiter=",", header="a,b,c,d,e,f", comments="")
    typed = f"truerisk audit-table {shlex.quote(f'./{name}' if '-' in name else name)}"
    typed += " --scoring zero-one"
    gate = typed
    for _ in range(2):  # the page of the gate repeats the gate
        assert exit_code_of(f"{gate} --report page.html") == 0
        gate = gate_of((tmp_path / "page.html").read_text("utf-8"))
        assert gate.startswith(f"{typed} --fail-above ")
    assert exit_code_of(stricter(gate)) == 4


def test_gate_without_an_interval_says_that_no_bound_is_met(audited):
    page = audited["scores"].to_html()
    assert 'id="gate-call"' not in page
    assert "no bound is met" in told(page)
