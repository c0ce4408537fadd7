"""Checks of rows and splits."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.checks.splits import row_findings, split_findings
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.methods.kfold import KFold, LeaveOneOut
from truerisk.plan.plan import Plan


def data_of(n=60, groups=None, y=None, X=None):
    """Numbers that all differ, two classes."""
    X = np.arange(2.0 * n).reshape(n, 2) if X is None else X
    labels = np.arange(n) % 2 if y is None else y
    return Data.check(X, labels, task="classification", groups=groups)


def plan_of(data, k=5) -> Plan:
    """Folds by row number modulo k."""
    return KFold(folds=np.arange(data.n_rows) % k).plan(data, Streams(0))


def codes(data, plan=None):
    """Codes of the findings."""
    return {f.code for f in split_findings(data, plan_of(data) if plan is None else plan)}


def test_sound_splits_have_no_finding():
    """Twelve rows a fold, both classes, no copies."""
    assert codes(data_of()) == set()


def test_copies_on_both_sides_are_found():
    """A copy in another fold leaks; one in the same fold does not."""
    X = np.arange(120.0).reshape(60, 2)
    X[1] = X[0]
    assert "duplicate-rows" in codes(data_of(X=X))
    X = np.arange(120.0).reshape(60, 2)
    X[5] = X[0]
    assert "duplicate-rows" not in codes(data_of(X=X))


def test_groups_that_are_cut_are_found():
    """A group in two folds leaks; groups that are the folds do not."""
    assert "groups-split" in codes(data_of(groups=np.arange(60) // 2))
    assert "groups-split" not in codes(data_of(groups=np.arange(60) % 5))


def test_a_missing_class_is_found():
    """Sorted labels in contiguous folds: a test fold lacks a class."""
    data = data_of(y=np.repeat([0, 1], 30))
    contiguous = KFold(folds=np.arange(60) // 12).plan(data, Streams(0))
    assert "class-missing" in codes(data, contiguous)
    assert "class-missing" not in codes(data)


def test_a_class_that_is_gone_with_one_row_is_found():
    """Leave-one-out misses a class of one row, and only that."""
    rare = data_of(y=np.where(np.arange(60) == 7, 2, np.arange(60) % 2))
    assert "class-missing" in codes(rare, LeaveOneOut().plan(rare, Streams(0)))
    usual = data_of()
    assert "class-missing" not in codes(usual, LeaveOneOut().plan(usual, Streams(0)))


@pytest.mark.parametrize(("k", "few"), [(5, False), (10, True)])
def test_few_rows_per_fold_are_found(k, few):
    """Below ten rows a fold; leave-one-out is not meant."""
    data = data_of()
    found = codes(data, plan_of(data, k))
    if few:
        assert "few-rows-per-fold" in found
    else:
        assert "few-rows-per-fold" not in found
    assert "few-rows-per-fold" not in codes(data, LeaveOneOut().plan(data, Streams(0)))


def test_more_settings_than_half_the_rows_are_many():
    """31 settings on 60 rows are many, 30 are not."""
    assert "many-candidates" in {f.code for f in row_findings(data_of(), 31)}
    assert "many-candidates" not in {f.code for f in row_findings(data_of(), 30)}
