"""In a room with a television and a speaker music is the speaker's, a film the television's."""

import pytest

TELEVISION, SPEAKER = "media_player.dian_shi", "media_player.ke_ting"


@pytest.mark.parametrize(
    ("text", "tool", "players"),
    [
        ("音乐暂停", "media.pause", [SPEAKER]),
        ("放点钢琴曲", "media.search", [SPEAKER]),
        ("这首歌我不爱听，换一首吧", "media.next", [SPEAKER]),
        ("嗯，刚才那首，就是上一首，再放一遍吧", "media.previous", [SPEAKER]),
        ("可以帮我放一首《月亮代表我的心》吗？", "media.search", [SPEAKER]),
        ("电影暂停一下", "media.pause", [TELEVISION]),
    ],
)
async def test_on_which_player(make_house, text, tool, players):
    house = await make_house("home44.zh.yaml")
    room = next(one.id for one in house.home.snapshot().areas if one.name == "客厅")
    (part,) = await house.commands.decider.parts(text, "zh", room)
    assert (part.decision.tool, part.decision.entities) == (tool, players)
    assert part.decision.asks is None
    assert part.decision.call.arguments["entities"] == players


async def test_what_may_be_either_is_asked(make_house):
    house = await make_house("home44.zh.yaml")
    room = next(one.id for one in house.home.snapshot().areas if one.name == "客厅")
    (part,) = await house.commands.decider.parts("暂停", "zh", room)
    assert part.decision.asks == "which"
    assert set(part.decision.entities) == {TELEVISION, SPEAKER}
