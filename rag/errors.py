"""The room's exceptions. Their messages are written for the person who runs the household's box."""


class RagError(Exception):
    """Anything that goes wrong with documents, in words."""


class DatabaseError(RagError):
    """The database file cannot be used; the message says which file and what to do."""


class LoadError(RagError):
    """A file cannot be read as a document; the message is the reason, shown beside its name."""


class WorkerError(RagError):
    """A worker process stopped, ran past its time limit, or could not start."""


class EmbedderError(RagError):
    """Texts could not be embedded; the message says why and what to do."""


class UnknownDocumentError(RagError):
    """No document (or no page of it) by that name is in the library."""
