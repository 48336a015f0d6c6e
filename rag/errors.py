"""The room's exceptions. Their messages are written for the person who runs the household's box."""


class RagError(Exception):
    """Anything that goes wrong with documents, in words."""


class DatabaseError(RagError):
    """The database file cannot be used; the message says which file and what to do."""


class LoadError(RagError):
    """A file cannot be read as a document; the message is the reason, shown beside its name."""


class WorkerError(RagError):
    """A worker process could not start, or was closed."""


class WorkerCrashError(WorkerError):
    """A worker process stopped, or ran past its time limit, while it had a request in hand."""


class EmbedderError(RagError):
    """Texts could not be embedded; the message says why and what to do."""


class RerankerError(RagError):
    """Passages could not be put into another order; the message says why, in half a sentence."""


class IndexAwayError(RagError):
    """Vectors that are searched elsewhere cannot be searched there now."""


class LibraryClosedError(RagError):
    """The library was closed while it ingested; what was stored before stays."""


class UnknownDocumentError(RagError):
    """No document (or no page of it) by that name is in the library."""
