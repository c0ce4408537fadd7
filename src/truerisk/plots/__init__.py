"""Matplotlib displays of results; matplotlib is imported when one is drawn.

| file | what it draws |
|---|---|
| `curve.py` | a risk curve with error bars, or several together; the chosen candidates |
"""
