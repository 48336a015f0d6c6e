"""Several commands of one sentence."""
