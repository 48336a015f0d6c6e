"""What may be skipped and what that costs: thresholds and predictors, found from a text."""
