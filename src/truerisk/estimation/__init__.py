"""The risk of one model or of each setting: `estimate_risk`, `risk_curve`, and the way to them.

| file | what it holds |
|---|---|
| `estimate.py` | `estimate_risk`, `risk_curve` |
| `bayesian_error.py` | `bayesian_error` of a linear rule given by its coefficients |
| `problem.py` | one family on checked data, with all that was asked for; further scores; seeds |
| `run.py` | a problem and a method → plan → answers → evaluation; `Run`, tuning and test |
| `outer_splits.py` | the method that tests a tuned learner, and what happened in its splits |
| `fit_params.py` | what fits are given beside X and y: weights, groups, rows that end them early |
"""
