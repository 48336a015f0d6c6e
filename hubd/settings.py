"""The sections of ``hubd.toml`` and their keys: what each may be, and what it is unless told.

A key's description is what a wrong value is answered with. Knows nothing of files, of the
environment, or of the parts that are configured.
"""

import ipaddress
import os
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

DEFAULT_MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
SECRETS = ("token", "api_key", "sources", "servers")
"""Keys whose values are never shown, logged or backed up unless asked for."""
Place = Annotated[
    str,
    Meta(
        pattern=r"^(-?([0-8]?\d(\.\d+)?|90(\.0+)?)\s*,\s*-?((1[0-7]\d|\d{1,2})(\.\d+)?|180(\.0+)?))?$",
        description='latitude and longitude such as "52.52, 13.41", or nothing',
    ),
]
"""In degrees."""


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Seconds = Annotated[float, Meta(ge=0, le=10**8, description="seconds, 0 for never")]


class Http(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    host: Annotated[str, Meta(min_length=1, description="a host name or an address")] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="a whole number from 0 to 65535; 0 takes a free port")
    ] = 8400
    token: Annotated[str, Meta(description="a secret of the owner, or nothing")] = ""
    names: Annotated[
        list[str], Meta(description="host names under which browsers may reach the hub")
    ] = field(default_factory=list)
    certificate: Annotated[str, Meta(description="a PEM file with the chain, or nothing")] = ""
    private_key: Annotated[str, Meta(description="a PEM file, or nothing")] = ""
    trusted_proxies: Annotated[
        list[str], Meta(description='a list of addresses or networks: "192.168.1.10", "10.0.0.0/8"')
    ] = field(default_factory=list)
    move_volatile: Annotated[bool, Meta(description="true or false")] = True

    def proxies(self) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        """The machines of ``trusted_proxies``.

        Raises:
            ValueError: one is no address and no network.
        """
        return [ipaddress.ip_network(one) for one in self.trusted_proxies]


class Engine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    model: Annotated[
        str, Meta(min_length=1, description="a file name in the model folder, or a path")
    ] = DEFAULT_MODEL
    activation: Annotated[
        Literal["", "silu", "gelu", "relu", "relu2", "drelu"],
        Meta(description="silu, gelu, relu, relu2 or drelu, or nothing for what the file says"),
    ] = ""
    sparsity: Annotated[
        Literal["exact", "calibrated", "off"],
        Meta(description="exact, calibrated (after `hubd model calibrate`) or off"),
    ] = "exact"
    adapters: Annotated[
        list[str],
        Meta(description="a list of LoRA files in the model folder, or paths: FILE or FILE:SCALE"),
    ] = field(default_factory=list)
    threads: Annotated[int, Meta(ge=1, le=1024, description="a whole number from 1 to 1024")] = (
        field(default_factory=_cores)
    )
    context_length: Annotated[
        int, Meta(ge=256, le=1_048_576, description="tokens, a whole number from 256 to 1048576")
    ] = 4096
    preload: Annotated[bool, Meta(description="true or false")] = True
    idle_unload: Seconds = 0.0
    draft_model: Annotated[
        str, Meta(description="a file in the model folder, a path, or nothing")
    ] = ""
    kv_mb: Annotated[
        int, Meta(ge=0, le=1_048_576, description="megabytes, a whole number from 0 to 1048576")
    ] = 0
    kv_format: Annotated[Literal["auto", "f16", "int8"], Meta(description="auto, f16 or int8")] = (
        "auto"
    )
    prefix_disk_mb: Annotated[
        int, Meta(ge=0, le=1_048_576, description="megabytes, a whole number from 0 to 1048576")
    ] = 1024
    reuse_chunks: Annotated[bool, Meta(description="true or false")] = False
    url: Annotated[
        str,
        Meta(
            pattern=r"^(https?://[^\s]+)?$",
            description="the http(s) address of an OpenAI-compatible server, or nothing",
        ),
    ] = ""
    api_key: Annotated[str, Meta(description="the key for that server, or nothing")] = ""
    server_model: Annotated[
        str, Meta(max_length=200, description="a model's name there, or nothing for its first")
    ] = ""


class Rag(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    embedder: Annotated[
        str,
        Meta(
            pattern=r"^(|engine|sentence-transformers|[/~].*)$",
            description="engine, sentence-transformers, the folder of a model, or nothing for "
            "what `hubd rag reindex` chose last",
        ),
    ] = ""
    reranker: Annotated[
        str,
        Meta(pattern=r"^(|[/~].*)$", description="the folder of a cross-encoder, or nothing"),
    ] = ""
    idle_unload: Seconds = 600.0
    preload: Annotated[bool, Meta(description="true or false")] = True
    folders: Annotated[
        list[Annotated[str, Meta(min_length=1)]],
        Meta(description="a list of folders to watch: PATH, or COLLECTION=PATH"),
    ] = field(default_factory=list)
    private: Annotated[
        list[Annotated[str, Meta(pattern=r"^[^:]+:")]],
        Meta(description="a list of collections and who may see them: COLLECTION: NAME, NAME"),
    ] = field(default_factory=list)
    url: Annotated[
        str,
        Meta(pattern=r"^(https?://[^\s]+)?$", description="the address of a Qdrant, or nothing"),
    ] = ""
    api_key: Annotated[str, Meta(description="the key for that Qdrant, or nothing")] = ""
    passages: Annotated[int, Meta(ge=1, le=50, description="a whole number from 1 to 50")] = 4


class Assistant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    max_tokens: Annotated[int, Meta(ge=1, le=8192, description="a whole number from 1 to 8192")] = (
        200
    )
    temperature: Annotated[float, Meta(ge=0, le=2, description="a number from 0 to 2")] = 0.0
    answer_cache: Annotated[
        int, Meta(ge=0, le=10_000, description="a whole number from 0 to 10000")
    ] = 200
    household: Annotated[str, Meta(max_length=100, description="at most 100 characters")] = (
        "our home"
    )
    time_zone: Annotated[
        str, Meta(description="a name such as Europe/Berlin, or nothing for the system's")
    ] = ""


class Home(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    everything: Annotated[bool, Meta(description="true or false")] = False
    timer_webhook: Annotated[
        str,
        Meta(
            max_length=200,
            pattern=r"^[\w.~-]*$",
            description="the id of a webhook trigger in Home Assistant, or nothing",
        ),
    ] = ""
    location: Place = ""
    reports: Annotated[
        dict[Annotated[str, Meta(max_length=60)], Annotated[str, Meta(max_length=4_000)]],
        Meta(description='a table of templates by name: lights = "{{ … }}"'),
    ] = field(default_factory=dict)


class Calendar(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sources: Annotated[
        list[str],
        Meta(description="a list of calendars, files or addresses: PLACE or NAME = PLACE"),
    ] = field(default_factory=list)
    write: Annotated[
        str, Meta(max_length=100, description="the name of a calendar to write in, or nothing")
    ] = ""
    refresh_minutes: Annotated[
        int, Meta(ge=5, le=10_080, description="minutes, a whole number from 5 to 10080")
    ] = 30


class Wyoming(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    port: Annotated[
        int, Meta(ge=0, le=65535, description="a whole number from 0 to 65535; 0 for none")
    ] = 0
    host: Annotated[str, Meta(min_length=1, description="a host name or an address")] = "127.0.0.1"
    allow: Annotated[
        list[str], Meta(description="a list of addresses or networks, such as 192.168.1.5")
    ] = field(default_factory=list)
    role: Annotated[
        Literal["owner", "member", "guest", "child"],
        Meta(description="owner, member, guest or child"),
    ] = "guest"
    announce: Annotated[bool, Meta(description="true or false")] = False

    def networks(self) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        """The machines of ``allow``.

        Raises:
            ValueError: one is no address and no network.
        """
        return [ipaddress.ip_network(one) for one in self.allow]


class Announce(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    speakers: Annotated[
        list[Annotated[str, Meta(pattern=r"^(media_player|assist_satellite)\.\w+$")]],
        Meta(description='a list of entities such as ["media_player.kitchen"]'),
    ] = field(default_factory=list)
    voice: Annotated[
        str,
        Meta(pattern=r"^(tts\.\w+)?$", description='an entity such as "tts.piper", or nothing'),
    ] = ""
    rings: Annotated[bool, Meta(description="true or false")] = True


class Weather(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    location: Place = ""
    url: Annotated[
        str, Meta(pattern=r"^https?://[^\s]+$", description="the address of an Open-Meteo service")
    ] = "https://api.open-meteo.com/v1/forecast"


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A server whose tools become the hub's: a program to run, or an address."""

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
    command: list[str] = field(default_factory=list)
    url: Annotated[str, Meta(pattern=r"^(https?://[^\s]+)?$")] = ""
    token: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    risk: Literal["read", "act", "dangerous"] = "dangerous"
    """Of its tools: without a word about it, each call needs a person's confirmation."""
    tools: dict[str, Literal["read", "act", "dangerous"]] = field(default_factory=dict)
    """Tools whose risk is another."""
    timeout: Annotated[float, Meta(gt=0, le=600)] = 30.0
    """Seconds for a call."""

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ValueError(f"MCP server {self.name} needs a command or a url, and not both")


class Mcp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    serve: Annotated[bool, Meta(description="true or false")] = False
    servers: Annotated[
        list[McpServer],
        Meta(description="a list of servers, each with a name and a command or a url"),
    ] = field(default_factory=list)


class Log(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="debug, info, warning or error"),
    ] = "info"


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    http: Http = field(default_factory=Http)
    engine: Engine = field(default_factory=Engine)
    rag: Rag = field(default_factory=Rag)
    assistant: Assistant = field(default_factory=Assistant)
    home: Home = field(default_factory=Home)
    announce: Announce = field(default_factory=Announce)
    calendar: Calendar = field(default_factory=Calendar)
    weather: Weather = field(default_factory=Weather)
    mcp: Mcp = field(default_factory=Mcp)
    wyoming: Wyoming = field(default_factory=Wyoming)
    log: Log = field(default_factory=Log)


PLUGIN_SECTIONS = ("announce", "calendar", "weather")
"""Those that a plugin of the same name gets to see."""

SECTIONS: dict[str, type[Struct]] = {
    info.name: info.type for info in msgspec.structs.fields(Config)
}
