"""Measurements of the engine, one file each: `python -m engine.benchmarks.NAME`.

`hubd bench NAME` runs the file of that name as a process of its own, with `--cache-directory`
added; the first line of a file's docstring is what `hubd bench --help` says of it. Modules whose
names begin with an underscore are no commands but what the others share.
"""
