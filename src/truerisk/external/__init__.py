"""For searches that are run elsewhere: an audit of their losses, and a holdout that scores them."""
