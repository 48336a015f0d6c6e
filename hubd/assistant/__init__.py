"""Understands what is said, decides what is done about it, and answers from the evidence."""
