"""The ground that all packages stand on: settings of learners, words, messages, text."""
