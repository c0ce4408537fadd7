"""A fitted search can be written and read by skops, without pickle."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

skops_io = pytest.importorskip(
    "skops.io", reason="skops is not installed; `make test-partners` installs it"
)
X, Y = tr.datasets.make_simple(60, random_state=0)
MODEL = make_pipeline(StandardScaler(), LogisticRegression())
GRID = {"logisticregression__C": [0.1, 1.0]}


@pytest.mark.parametrize(
    "options", [{}, {"scoring": ["roc_auc", "neg_log_loss"], "outer": "3-fold"}, {"outer": None}]
)
def test_skops_reads_the_search_that_it_wrote(options, tmp_path):
    """Nobody needs to trust a type of another package than this one."""
    search, path = tr.HonestSearchCV(MODEL, GRID, **options).fit(X, Y), tmp_path / "search.skops"
    skops_io.dump(search, path)
    trusted = skops_io.get_untrusted_types(file=path)
    assert {name.partition(".")[0] for name in trusted} == {"truerisk"}
    again = skops_io.load(path, trusted=trusted)
    assert again.predict_proba(X).tolist() == search.predict_proba(X).tolist()
    assert str(again.curve_) == str(search.curve_)
    for name in ("selected_risk_", "risk_") if search.outer else ("selected_risk_",):
        assert getattr(again, name).to_json() == getattr(search, name).to_json()
