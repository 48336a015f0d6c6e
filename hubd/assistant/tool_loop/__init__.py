"""The language model among the tools: what it may choose, and how it must write it."""
