"""Players: what they play and how loud."""

from typing import Annotated

from msgspec import Meta

from plugins.acting import EntityIds, act, act_by_value, found
from plugins.api import Entity, Plugin, ToolContext, ToolResult
from plugins.articles import with_articles

plugin = Plugin("media", sentences="media.{language}.yaml")

STEP_PERCENT = 10
"""What "louder" means."""
Text = Annotated[str, Meta(max_length=200)]


@plugin.tool(risk="act")
async def play(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Go on playing."""
    return await act(
        context, entities, {"media_player": "media_play"}, "playing",
        reached=lambda e: e.state in ("playing", "buffering"),
    )  # fmt: skip


@plugin.tool(risk="act")
async def pause(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Pause what plays."""
    return await act(
        context, entities, {"media_player": "media_pause"}, "paused",
        reached=lambda e: e.state not in ("playing", "buffering"),
    )  # fmt: skip


@plugin.tool(risk="act")
async def next_(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Skip to the next piece."""
    return await act(
        context, entities, {"media_player": "media_next_track"}, "next_piece",
        value=lambda e: with_articles([e.name], context.language),
    )  # fmt: skip


@plugin.tool(risk="act")
async def previous(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Go back to the previous piece."""
    return await act(
        context, entities, {"media_player": "media_previous_track"}, "previous_piece",
        value=lambda e: with_articles([e.name], context.language),
    )  # fmt: skip


@plugin.tool(risk="act")
async def mute(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Mute players."""
    return await _mute(context, entities, True)


@plugin.tool(risk="act")
async def unmute(context: ToolContext, entities: EntityIds) -> ToolResult:
    """Let players be heard again."""
    return await _mute(context, entities, False)


@plugin.tool(risk="act")
async def set_volume(
    context: ToolContext, entities: EntityIds, volume: Annotated[int, Meta(ge=0, le=100)]
) -> ToolResult:
    """Set how loud players are.

    volume: percent
    """
    return await act(
        context,
        entities,
        {"media_player": "volume_set"},
        "volume",
        data={"volume_level": volume / 100},
        reached=lambda e: abs(_volume(e) - volume) <= 2,
        value=_volume,
    )


@plugin.tool(risk="act")
async def change_volume(
    context: ToolContext,
    entities: EntityIds,
    step: Annotated[str, Meta(pattern="^(up|down|-?[0-9]{1,3})$")],
) -> ToolResult:
    """Make players louder or quieter.

    step: up, down, or percent to add
    """
    percent = {"up": STEP_PERCENT, "down": -STEP_PERCENT}.get(step)
    difference = int(step) if percent is None else percent
    wanted = {
        player.id: min(100, max(0, _volume(player) + difference))
        for player in found(context, entities)
    }
    return await act_by_value(
        wanted, lambda ids, value: set_volume(context, ids, volume=int(value))
    )


@plugin.tool(risk="act")
async def search(
    context: ToolContext, entities: EntityIds, query: Text, kind: Text = "music"
) -> ToolResult:
    """Find something and play it.

    query: what to play
    kind: artist, album, track, playlist, podcast, movie or tv show
    """
    return await act(
        context,
        entities,
        {"media_player": "play_media"},
        "playing_this",
        value=lambda e: query,
        data={"media_content_id": query, "media_content_type": kind},
        reached=lambda e: e.state in ("playing", "buffering"),
    )


async def _mute(context: ToolContext, entities: list[str], muted: bool) -> ToolResult:
    return await act(
        context,
        entities,
        {"media_player": "volume_mute"},
        "muted" if muted else "unmuted",
        data={"is_volume_muted": muted},
        reached=lambda e: bool(e.attributes.get("is_volume_muted")) == muted,
    )


def _volume(player: Entity) -> int:
    level = float(player.attributes.get("volume_level") or 0)
    return round(level * 100 if level <= 1 else level)
