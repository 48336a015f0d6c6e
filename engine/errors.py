"""The room's exception tree. Light: the client in the hub process imports it."""


class EngineError(Exception):
    """Anything the engine reports on purpose. The message is for a person."""


class ModelFormatError(EngineError):
    """A model file that cannot be read; the message names the field and the offset in the file."""


class TokenizerError(ModelFormatError):
    """The vocabulary in the model file cannot be used."""


class ChatTemplateError(EngineError):
    """The model's chat template is missing, broken, or refuses these messages."""


class InvalidRequestError(EngineError):
    """A request the engine cannot carry out as it stands.

    ``param`` names the field at fault, ``code`` is a stable word for programs.
    """

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.code = code


class ContextLengthError(InvalidRequestError):
    """The prompt leaves no room in the context for one more token."""

    def __init__(self, prompt_tokens: int, context_length: int) -> None:
        super().__init__(
            f"the prompt has {prompt_tokens} tokens; the context of {context_length} tokens has to"
            " hold it and at least one more; shorten the prompt",
            param="prompt",
            code="context_length_exceeded",
        )
        self.prompt_tokens = prompt_tokens
        self.context_length = context_length


class QueueFullError(EngineError):
    """Too many requests wait already; try again shortly."""


class EngineClosedError(EngineError):
    """The engine is shutting down and takes no more work."""


class NotReadyError(EngineError):
    """The model is loading, could not be loaded, or is going away."""


class EngineUnavailable(EngineError):  # noqa: N818 - states a condition, as callers say it
    """The engine cannot be reached, or it went away before the answer was complete."""


class EngineRefused(EngineError):  # noqa: N818 - states a condition, as callers say it
    """The engine answered with an error status."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
