"""Checklists of reporting and of bias, filled in as far as data and computation tell.

| file | what it holds |
|---|---|
| `checklist.py` | a checklist of a validation, filled in |
| `tripod_ai.py`, `probast_ai.py` | the items of TRIPOD+AI and of PROBAST+AI |
| `study_facts.py`, `model_facts.py` | the facts that answer them |
| `study_words.py` | the sentences that say these facts |
| `checklist_file.py` | the checklist as CSV, or as a table of Word or of a spreadsheet |
"""
