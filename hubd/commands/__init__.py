"""The commands of ``hubd``, one file a family. What they share is in ``common``."""
