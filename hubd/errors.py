"""The room's exceptions. Messages are written for the person who runs the household's box."""


class HubError(Exception):
    """``message`` says what is wrong and where, ``hint`` what to do about it."""

    code = "internal"
    """As in ``hubd.turn_events.Failed.code`` and in the HTTP error body."""
    status = 500
    """The HTTP status when this error ends a request."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadRequestError(HubError):
    """A request that cannot be carried out as it is; the message names the field."""

    code = "bad_request"
    status = 400


class NotFoundError(HubError):
    """No such document, tool or model."""

    code = "not_found"
    status = 404


class BusyError(HubError):
    """More work at once than the box can do."""

    code = "busy"
    status = 429


class StoppingError(HubError):
    """The daemon is on its way out, or reads its configuration again."""

    code = "stopping"
    status = 503


class AlreadyRunningError(HubError):
    """Another daemon holds this home; ``address`` is where it answers (empty if not known yet)."""

    def __init__(self, address: str) -> None:
        where = f": {address}" if address else ""
        super().__init__(f"hubd is already running in this home{where}")
        self.address = address
