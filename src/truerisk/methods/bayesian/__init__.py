"""Posteriors of the error of linear rules.

| file | what it holds |
|---|---|
| `rule_risks.py` | risks of linear rules as estimates |
| `rule_errors.py` | posteriors of two classes, and of all pairs of several |
| `priors.py` | priors of the classes, by word and by their parameters |
| `class_errors.py` | the posterior of the error in one class |
| `error_law.py` | the law of their weighted sum, by convolution |
| `scaled_rows.py` | training rows as linear rules see them |
"""
