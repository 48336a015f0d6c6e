"""Commands for a time of day, or in an hour."""
