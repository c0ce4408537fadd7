"""What commands do: imported when they run, so that --help needs neither numpy nor scikit-learn."""
