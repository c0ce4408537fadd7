"""The risk of one model or of each setting: `estimate_risk`, `risk_curve`, and the way to them."""
