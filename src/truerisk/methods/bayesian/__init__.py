"""Posteriors of the error of linear rules.

| file | what it holds |
|---|---|
| `rule_errors.py` | posteriors of two classes, of all pairs of several; their law by convolution |
| `priors.py` | priors of the classes, by word and by their parameters |
| `class_errors.py` | the posterior of the error in one class |
| `scaled_rows.py` | training rows as linear rules see them |
"""
