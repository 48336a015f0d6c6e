"""The daemon: composes engine, rag and plugins, and serves the household."""

__version__ = "0.1.0"
