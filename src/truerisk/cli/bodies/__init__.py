"""Bodies of the commands, imported when they run: --help needs neither numpy nor scikit-learn."""
