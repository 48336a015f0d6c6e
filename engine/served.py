"""What an engine process serves: a language model, an encoder, a cross-encoder; and its state."""

import time
from typing import NoReturn

import msgspec

from engine.embed_service import EmbedService
from engine.engine import Engine
from engine.error_replies import UnknownModelError
from engine.errors import NotReadyError
from engine.protocol import Health, ModelCard
from engine.rerank_service import RerankService


class Served:
    """The models of one process; the language model may still be loading."""

    def __init__(
        self,
        model_name: str,
        encoder: EmbedService | None = None,
        reranker: RerankService | None = None,
    ) -> None:
        """model_name: of the language model, empty where the encoder is alone."""
        self.model_name = model_name
        self.engine: Engine | None = None
        self.encoder = encoder
        self.reranker = reranker
        loading = Health(status="loading", model=model_name)
        self.health = loading if model_name else Health(status="ready", fraction=1.0)
        self._created = int(time.time())

    @property
    def encoders(self) -> list[EmbedService]:
        """All that makes vectors or scores."""
        return [service for service in (self.encoder, self.reranker) if service is not None]

    def state(self) -> Health:
        """How it is now: the stage of loading or the reason of a failure, and what is under way."""
        health = self.health
        if self.engine is not None:
            load = self.engine.scheduler.load()
            counts = self.engine.scheduler.counts()
            neurons = self.engine.model.neurons
            health = msgspec.structs.replace(
                health,
                active=load.active,
                waiting=load.waiting,
                counts=counts,
                neurons=neurons.activity() if neurons is not None else [],
            )
        if self.encoder is not None:
            busy = health.active + self.encoder.active
            health = msgspec.structs.replace(health, active=busy, encoder=self.encoder.state)
        if self.reranker is not None:
            busy = health.active + self.reranker.active
            health = msgspec.structs.replace(health, active=busy)
        return health

    def cards(self) -> list[ModelCard]:
        """The models as ``GET /v1/models`` lists them."""
        cards = []
        if self.model_name:
            length = msgspec.UNSET if self.engine is None else self.engine.context_length
            cards = [ModelCard(id=self.model_name, created=self._created, context_length=length)]
        others = [ModelCard(id=one.name, created=self._created) for one in self.encoders]
        return cards + others

    def ready(self) -> Engine:
        """The language model's engine. Raises NotReadyError with what it waits for."""
        if not self.model_name:
            raise NotReadyError("there is no language model here: this engine makes embeddings")
        if self.engine is None or self.health.status != "ready":
            health = self.health
            what = {
                "loading": f"the model is loading ({health.stage} {health.fraction:.0%})",
                "failed": f"the model could not be loaded: {health.message}",
            }.get(health.status, "the engine is shutting down")
            raise NotReadyError(what)
        return self.engine

    def check_model(self, name: str | None) -> None:
        """Raises UnknownModelError where a request names another than the language model."""
        if name and name != self.model_name:
            self.unknown(name)

    def unknown(self, name: str | None) -> NoReturn:
        """Raise UnknownModelError, with the names that there are."""
        served = ", ".join(repr(card.id) for card in self.cards())
        raise UnknownModelError(f"there is no model {name!r} here; this engine serves {served}")
