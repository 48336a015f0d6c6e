"""The HTTP side of an engine: OpenAI's endpoints on an aiohttp application.

Knows the routes, and tells how the process is and what it serves; the rest is of
``engine.text_endpoints`` and ``engine.vector_endpoints``. How the process starts, listens and ends
is ``engine.server``'s.
"""

from functools import partial

from aiohttp import web

from engine.error_replies import MAX_BODY_BYTES, errors_as_json, json_reply
from engine.protocol import ModelList
from engine.served import Served
from engine.text_endpoints import chat, complete
from engine.vector_endpoints import embed, rerank


def application(served: Served) -> web.Application:
    """An application with every route and OpenAI's form of errors."""
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[errors_as_json])
    app.add_routes(
        [
            web.get("/health", partial(get_health, served)),
            web.get("/v1/models", partial(get_models, served)),
            web.get("/v1/models/{name}", partial(get_model, served)),
            web.post("/v1/chat/completions", partial(chat, served)),
            web.post("/v1/completions", partial(complete, served)),
            web.post("/v1/embeddings", partial(embed, served)),
            web.post("/v1/rerank", partial(rerank, served)),
        ]
    )
    return app


async def get_health(served: Served, request: web.Request) -> web.Response:
    """200 when ready, else 503 with the stage of loading or the reason of the failure."""
    state = served.state()
    return json_reply(state, status=200 if state.status == "ready" else 503)


async def get_models(served: Served, request: web.Request) -> web.Response:
    return json_reply(ModelList(data=served.cards()))


async def get_model(served: Served, request: web.Request) -> web.Response:
    name = request.match_info["name"]
    card = next((card for card in served.cards() if card.id == name), None)
    if card is None:
        served.check_model(name)
    return json_reply(card)
