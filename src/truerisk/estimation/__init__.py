"""From what a user gave to an evaluation, by one road: a `Run`, which every verb asks.

| file | what it holds |
|---|---|
| `problem.py` | one family on checked data, with all that was asked for; further scores; seeds |
| `run.py` | a problem and a method → plan → answers → evaluation; `Run`, tuning and test |
| `outer_splits.py` | the method that tests a tuned learner, and what happened in its splits |
| `fit_params.py` | what fits are given beside X and y: weights, groups, rows that end them early |
| `leak_warnings.py` | warnings about copies, groups and later rows on both sides of a split |
"""
