"""Answers from the documents, and what is said of them."""
