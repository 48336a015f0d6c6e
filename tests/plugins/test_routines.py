"""Routines: defined in one sentence, run in order, forgotten, brought back; commands for later."""

import pytest

from plugins.api import ToolError


@pytest.fixture
def carried_out(workshop):
    """The utterances that were carried out, in whose place."""
    done = []

    async def carry_out(utterance, speaker):
        done.append((utterance, speaker.language, speaker.confirmed))
        return f"({utterance})"

    workshop.tools.set_carry_out(carry_out)
    return done


async def test_a_routine_runs_its_commands_in_order(workshop, carried_out):
    said = "turn off the lights, then close the blinds; lock the door"
    defined = await workshop("routines.define", name="Movie Night", commands=said)
    steps = ["turn off the lights", "close the blinds", "lock the door"]
    assert defined.data["commands"] == steps
    ran = await workshop("routines.run", confirmed=True, name="movie  night")
    assert ran.text == "(turn off the lights) (close the blinds) (lock the door)"
    assert carried_out == [(step, "en", False) for step in steps]  # nobody confirmed these


@pytest.mark.parametrize(
    ("language", "said", "steps"),
    [
        ("zh", "关灯然后关窗帘", ["关灯", "关窗帘"]),
        ("de", "mach das Licht aus und dann den Fernseher an",
         ["mach das Licht aus", "den Fernseher an"]),
        ("en", "thenceforth dance", ["thenceforth dance"]),
    ],
)  # fmt: skip
async def test_commands_in_one_text_are_several(workshop, language, said, steps):
    defined = await workshop("routines.define", language, name="x", commands=said)
    assert defined.data["commands"] == steps


async def test_forgetting_and_bringing_back(workshop):
    await workshop("routines.define", name="bedtime", commands=["lights off", "heating down"])
    forgotten = await workshop("routines.forget", name="bedtime")
    assert (await workshop("routines.list")).text == "There are no routines."
    await workshop.undo(forgotten)
    assert (await workshop("routines.list")).text == "“bedtime”: lights off; heating down."
    with pytest.raises(ToolError, match="没有“派对”"):
        await workshop("routines.run", "zh", name="派对")


async def test_a_command_for_later_is_carried_out_once(workshop, carried_out):
    await workshop("routines.later", "de", command="Licht aus", minutes=5)
    async with workshop.board.listen() as queue:
        await workshop.pass_time(minutes=10)
        heard = [queue.get_nowait() for _ in range(queue.qsize())]
    assert carried_out == [("Licht aus", "de", False)]
    assert heard[-1].data["text"] == "(Licht aus)"
    with pytest.raises(ToolError, match="In how long"):
        await workshop("routines.later", command="lights off")


async def test_a_routine_has_an_end(workshop):
    with pytest.raises(ToolError, match="1 to 20 commands"):
        await workshop("routines.define", name="x", commands="; ".join(["dance"] * 21))
    with pytest.raises(ToolError, match="1 to 20 commands"):
        await workshop("routines.define", name="x", commands=" . ")


SENTENCES = [
    ("en", "when I say movie night, then turn off the lights then close the blinds",
     "routines.define",
     {"name": "movie night", "commands": "turn off the lights then close the blinds"}),
    ("en", "when I say tea, then turn off the light then set a timer for 2 hours",
     "routines.define",
     {"name": "tea", "commands": "turn off the light then set a timer for 2 hours"}),
    ("en", "run the routine movie night", "routines.run", {"name": "movie night"}),
    ("en", "good night", "routines.run", {"name": "good night"}),
    ("zh", "当我说电影时间，就关灯", "routines.define", {"name": "电影时间", "commands": "关灯"}),
    ("zh", "晚安", "routines.run", {"name": "晚安"}),
    ("de", "wenn ich Filmabend sage, dann mach das Licht aus", "routines.define",
     {"name": "Filmabend", "commands": "mach das Licht aus"}),
    ("fr", "lance la routine cinéma", "routines.run", {"name": "cinéma"}),
    ("es", "ejecuta la rutina cine", "routines.run", {"name": "cine"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), SENTENCES)
def test_a_sentence_is_understood(understood, language, text, tool, arguments):
    assert understood(text, language) == (tool, arguments)


COMMANDS = [
    ("fr", "Réveille-moi à 7 heures", "alarms.set"),
    ("fr", "rappelle-moi d'appeler Bob", "reminders.add"),
    ("fr", "minuteur de 9 minutes", "timers.start"),
    ("fr", "ajoute du lait à la liste de courses", "lists.add"),
    ("fr", "combien de temps reste-t-il", "timers.list"),
    ("fr", "bonjour", "help.hello"),
    ("fr", "quelle heure est-il", "clock.time"),
    ("es", "Despiértame a las 7", "alarms.set"),
    ("es", "recuérdame llamar a Bob", "reminders.add"),
    ("es", "temporizador de 9 minutos", "timers.start"),
    ("es", "añade leche a la lista de la compra", "lists.add"),
    ("es", "cuánto queda", "timers.list"),
    ("es", "gracias", "help.welcome"),
    ("es", "¿Qué hora es?", "clock.time"),
    ("de", "welches Datum ist heute", "clock.date"),
    ("de", "danke", "help.welcome"),
    ("zh", "谢谢", "help.welcome"),
]


@pytest.mark.parametrize(("language", "text", "tool"), COMMANDS)
def test_the_usual_commands_in_other_languages(understood, language, text, tool):
    assert understood(text, language)[0] == tool
