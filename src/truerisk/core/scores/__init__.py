"""Scores of whole test sets as losses: perfect minus score, and what each row does to it.

| file | what it holds |
|---|---|
| `confusion.py` | balanced accuracy, F1, precision, recall, MCC and others, of one class or all |
| `ranked.py` | AUC and average precision, of ranks |
| `explained.py` | R², the share of the variance |
| `reliability.py` | the expected calibration error of probabilities |
"""
