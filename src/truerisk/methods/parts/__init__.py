"""Arithmetic that several methods share.

| file | what it holds |
|---|---|
| `averages.py` | from answers to mean losses and their standard errors |
| `interval_choice.py` | who gets which interval |
| `set_risks.py` | losses of rows and of whole test sets; what each row does to a score |
| `caveats.py` | whether few rows decide; how far from their training rows rows were tested |
| `paired_losses.py` | losses of several candidates on the same rows; how their errors go together |
| `procedure.py` | methods that tune inside and test outside: the choice, the story of each split |
| `bootstrap_answers.py` | answers of samples as risks, their jackknife, the no-information risk |
"""
