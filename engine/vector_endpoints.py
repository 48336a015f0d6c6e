"""What makes numbers of text: ``POST /v1/embeddings`` and ``POST /v1/rerank``."""

import asyncio

import numpy as np
from aiohttp import web

from engine.embeddings import check_count, embedding_reply, listed, token_lists
from engine.error_replies import json_reply, naming
from engine.errors import NotReadyError
from engine.protocol import EmbeddingRequest, Ranked, RerankReply, RerankRequest, Usage
from engine.served import Served
from engine.wire import body_of


async def embed(served: Served, request: web.Request) -> web.Response:
    body = await body_of(request, EmbeddingRequest)
    if served.encoder is not None and body.model in (None, "", served.encoder.name):
        inputs = check_count(listed(body.input, "input"))
        vectors, count = await served.encoder.embed(inputs, body.input_type)
        return json_reply(embedding_reply(served.encoder.name, vectors, count, body))
    engine = served.ready()
    served.check_model(body.model)
    encoded = await asyncio.to_thread(token_lists, engine.tokenizer, body.input, "input")
    with naming("input"):
        for tokens in check_count(encoded):
            engine.check_input(tokens)
    vectors = np.stack([await engine.embed(tokens) for tokens in encoded])
    count = sum(map(len, encoded))
    return json_reply(embedding_reply(served.model_name, vectors, count, body))


async def rerank(served: Served, request: web.Request) -> web.Response:
    body = await body_of(request, RerankRequest)
    service = served.reranker
    if service is None:
        raise NotReadyError("there is no cross-encoder here")
    if body.model not in (None, "", service.name):
        served.unknown(body.model)
    documents = check_count(body.documents, "documents")
    scores, count = await service.rerank(body.query, documents)
    best = np.argsort(-scores, kind="stable")[: body.top_n]
    results = [Ranked(index=int(at), relevance_score=float(scores[at])) for at in best]
    usage = Usage(prompt_tokens=count, total_tokens=count)
    return json_reply(RerankReply(model=service.name, results=results, usage=usage))
