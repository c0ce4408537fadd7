"""Odd arguments to the functions and classes of `truerisk`: a result, or a sentence of its own."""

import contextlib
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.adversary.plain import Plain

import truerisk as tr
from truerisk.experiments.experiment import Experiment
from truerisk.extend import TrueRiskError

__all__ = ["FACES", "ODD", "Face", "draw_face", "face_wrong"]

FACES: dict[str, dict[str, str]] = {
    "estimate_risk": {"model": "model", "X": "X", "y": "y", "cv": "'3-fold'"},
    "risk_curve": {"model": "model", "grid": "grid", "X": "X", "y": "y", "cv": "'3-fold'"},
    "assess": {"learners": "{'m': model}", "X": "X", "y": "y", "cv": "['2-fold']"},
    "audit": {"search": "GridSearchCV(model, grid, cv=3).fit(X, y)", "X": "X", "y": "y"},
    "validate": {"search_or_model": "model", "X": "X", "y": "y", "replicates": "2"},
    "learning_curve": {"model": "model", "X": "X", "y": "y", "sizes": "[8, 10, 12, 13]"},
    "permutation_test": {"search": "model", "X": "X", "y": "y", "n_permutations": "2"},
    "HonestSearchCV": {"estimator": "model", "param_grid": "grid", "cv": "'2-fold'"},
    "HonestSearchCV.fit": {"X": "X", "y": "y"},
    "Study": {"spec": "spec", "store": "folder + '/runs.db'"},
    "Study.run": {},
    "compare": {"a_losses": "estimate", "b_losses": "estimate"},
    "bayesian_error": {"coef": "[1, 0]", "intercept": "0", "X": "X", "y": "y"},
    "plan_sample": {"error": "0.2", "width": "0.1"},
    "plan_development": {"parameters": "4", "prevalence": "0.2", "r2": "0.1"},
    "plan_validation": {"prevalence": "0.2", "auc": "0.8"},
    "experiments.reproduce": {"name": "'kearns-figure-1'", "replicates": "2"},
    "experiments.experiment.Experiment": {
        "name": "'coin'",
        "title": "'A coin'",
        "document": "'tossed'",
        "replicate": "lambda seed, number: {'heads': float(number)}",
        "findings": "lambda draws: Findings(())",
        "replicates": "3",
        "quick": "2",
    },
}
"""Arguments that work."""
MADE = {
    "HonestSearchCV.fit": "HonestSearchCV(model, grid, cv='2-fold').fit",
    "Study.run": "Study(spec, folder + '/run.db').run",
}
AFTER = {"HonestSearchCV": ".fit(X, y)", "Study": ".run()"}
INSIDE = {"experiments.experiment.Experiment": "reproduce(Experiment({}))"}
SETTING = """import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import truerisk as tr
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from tests.adversary.faces import face_wrong
from truerisk.experiments import reproduce
from truerisk.experiments.experiment import Experiment
from truerisk.experiments.figures import Findings

folder = tempfile.mkdtemp()
X = np.random.default_rng(0).normal(size=(20, 2))
y = np.arange(20) % 2
model, grid = KNeighborsClassifier(3), {"n_neighbors": [1, 3]}
spec = {"replicates": 1, "sizes": [20], "problems": ["simple"], "methods": ["2-fold"],
        "learners": ["lda"], "n_test": 50}
estimate = tr.estimate_risk(model, X, y, cv="3-fold")
Odd = type("Odd", (), {name: lambda self, *of: 1 / 0 for name in ("__len__", "__array__")})
"""
ODD = (
    "None", "True", "0", "-1", "1", "2", "20", "0.5", "1.5", "np.nan", "np.inf", "-np.inf",
    "1e-320", "10**30", "10**400", "-(10**400)", "1j", "''", "'x'", "'\\x1b[2J'", "'a' * 10**5",
    "b'x'", "'0'", "'auto'", "'y'", "[]", "()", "{}", "set()", "[None]", "[np.nan]",
    "[[1, 2], [3]]", "[10**400]", "['a', 1]", "{'a': 1}", "{1: 2}", "{'a': None}", "[('a', 'b')]",
    "[([0], [1])]", "np.array([])", "np.zeros((0, 2))", "np.zeros((20, 0))", "np.array(1.0)",
    "np.zeros((20, 2, 2))", "np.array([None] * 20)", "np.full(20, np.nan)",
    "np.full((20, 2), np.inf)", "np.arange(19)", "np.arange(20)", "np.arange(20.0)",
    "np.arange(20.0)[:, None]", "np.array(['a'] * 20)", "np.array([{}] * 20)",
    "np.ma.masked_all(20)", "np.arange(20) * 1j", "np.zeros(20, 'V3')",
    "np.zeros(20, [('a', int)])", "np.full(20, np.datetime64('NaT'))", "np.full(20, 10**30)",
    "np.arange(20).astype('m8[D]')", "np.arange(20).astype('M8[D]')", "np.zeros(20, bool)",
    "np.arange(20)[::-1].astype('>i4')", "np.longdouble(1)", "np.str_('x')", "np.float16(1)",
    "(i for i in [[1]])", "[10**400] * 20", "['1'] * 20", "[[]] * 20", "[[1, [2]]] * 20", "float",
    "object()", "Odd()", "KNeighborsClassifier", "Ridge()", "model", "[model]", "{'a': Odd()}",
    "KFold", "KFold(2)", "np.random.default_rng", "np.random.default_rng(0)",
    "np.random.RandomState(0)", "lambda *a, **k: None", "lambda *a, **k: 1 / 0", "print", "np",
    "range(20)", "iter([])", "(i for i in range(20))", "memoryview(b'x' * 20)", "pd.DataFrame()",
    "pd.Series([1, 2])", "pd.DataFrame({'a': range(20)})", "pd.DataFrame(X, columns=['a', 'a'])",
    "pd.NA", "pd.NaT", "pd.Series([pd.NA] * 20)", "pd.Series(range(20), index=['a'] * 20)",
    "pd.Index([])", "pd.DataFrame({('a', 1): range(20)})", "pl.DataFrame()",
    "pl.Series([None] * 20)", "pl.DataFrame({'a': [[1]] * 20})", "sparse.csr_array((20, 2))",
    "sparse.csr_array((0, 0))", "SimpleNamespace()", "Decimal('NaN')", "Fraction(1, 3)",
    "Path('/')", "Path('/none/x')", "tr.losses.Log", "tr.losses.Log()", "tr.methods.KFold",
    "tr.methods.KFold(2)", "tr", "estimate", "GridSearchCV(model, grid)", "NotImplemented", "...",
    "slice(2)", "Ellipsis", "type",
)  # fmt: skip
PLAIN: dict[str, tuple[str, ...]] = {
    "cv": ("'loo'", "'holdout'", "'3x2-fold'", "tr.methods.Nested('2-fold')", "'.632+'"),
    "outer": ("'2-fold'", "'holdout'", "'loo'", "'pairs'"),
    "scoring": ("'auc'", "'log'", "'squared'", "'f1 pooled'", "['brier', 'auc']", "{'a': 'log'}"),
    "engine": ("'generic'", "'knn'", "'tree'"),
    "interval": ("'wald'", "'bbc'", "'corrected-t'", "'beta-cv'"),
    "groups": ("np.arange(20) // 2",),
    "time": ("np.arange(20)",),
    "block": ("np.arange(40).reshape(20, 2)", "np.arange(20) // 5"),
    "sample_weight": ("np.arange(20.0)", "np.zeros(20)"),
    "rule": ("'1-se'",),
    "level": ("'scores'", "'nested'"),
    "y": ("np.arange(20.0)", "np.arange(20) % 3", "np.arange(20) // 19", "X"),
    "model": ("Ridge()", "GridSearchCV(model, grid)"),
}
"""Arguments that work in other company."""


@dataclass(frozen=True)
class Face(Plain):
    """One call with some odd arguments."""

    call: str
    script = SETTING

    @property
    def question(self) -> str:
        return f"face_wrong(lambda: {self.call})"


def draw_face(rng: np.random.Generator, number: int) -> Face:
    """Any face, one or two of its arguments odd, at times one more of another kind."""
    face = str(rng.choice(list(FACES)))
    names = [
        name
        for name, one in inspect.signature(_of(face)).parameters.items()
        if one.kind is not one.VAR_KEYWORD and name != "self"
    ]
    given = dict(FACES[face])
    for name in rng.choice(names, size=int(rng.choice([1, 2, 3])), replace=False):
        plain = PLAIN.get(name, ()) if rng.random() < 0.3 else ()
        given[str(name)] = str(rng.choice(plain or ODD))
    arguments = ", ".join(f"{name}={text}" for name, text in given.items())
    call = INSIDE.get(face, f"tr.{MADE.get(face, face)}({{}}){AFTER.get(face, '')}")
    return Face(number, call.replace("{}", arguments, 1))


def _of(face: str) -> Callable[..., Any]:
    if face in INSIDE:
        return Experiment
    found: Any = tr
    for part in face.split("."):
        found = getattr(found, part)
    return found


def face_wrong(call: Callable[[], Any]) -> str:
    """What is wrong: a sentence that cannot be read; an error that is not worded is raised."""
    with TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            shown = str(call())
        except TrueRiskError as error:
            sentence = str(error)
            read = sentence.isprintable() and len(sentence) < 2000 and " " in sentence
            return "" if read else f"no sentence: {sentence[:300]!r}"
    return "" if shown else "it shows nothing"
