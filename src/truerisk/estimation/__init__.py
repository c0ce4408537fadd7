"""`estimate_risk` and `risk_curve`: estimate the risk of one model or of each setting."""
