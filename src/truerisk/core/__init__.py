"""The ground that all packages stand on: settings of learners, words, messages, text.

| file | what it holds |
|---|---|
| `family.py`, `drawn_settings.py` | a learner with its candidates; candidates drawn at random |
| `identity.py` | whether an object is what a known class makes |
| `registry.py` | words and what they name, imported when asked for |
| `errors.py` | errors, and warnings at the line of the user |
| `arguments.py` | checks of arguments, and their text in a message |
| `progress.py` | the line of progress |
| `present.py` | numbers and tables as text and HTML |
| `version.py` | the version |
"""
