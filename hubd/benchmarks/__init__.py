"""Measurements of the hub and its engine process; a file is a command of `hubd bench`."""
