"""How fits of scikit-learn run, and what they say."""
