"""German as it is spoken: names in two parts, owners, remarks beside a wish, words heard apart."""

import pytest

from plugins.lists import split

HOME = "home13.de.yaml"


async def decided(make_house, text):
    house = await make_house(HOME)
    parts = await house.commands.decider.parts(text, "de", "wohnzimmer")
    return [part.decision for part in parts]


def acts(decision):
    tool = decision.tool or ""
    return bool(tool) and not decision.asks and tool not in ("home.state", "climate.temperature")


@pytest.mark.parametrize(
    ("text", "tool", "entity", "arguments"),
    [
        ("mach den rolladen am garten fenster hoch", "home.open", "cover.gartenfenster", {}),
        ("Rollo an der Terrassentür runter", "home.close", "cover.terrassentuer", {}),
        ("dreh die heizung bei jonas ein bischen höher", "climate.change", "climate.jonas",
         {"step": "up"}),
        ("Die Heizung im Bad auf 23 Grad", "climate.set", "climate.bad", {"temperature": 23}),
        ("Mach bei Jonas das Licht aus", "home.turn_off", "light.gaming", {}),
        ("Licht von Lena aus", "home.turn_off", "light.lichterkette", {}),
        ("mach das Rollo von Lena zu", "home.close", "cover.lena", {}),
        ("Schalt die Playstation von Jonas aus", "home.turn_off", "switch.playstation", {}),
        ("Die Playstation von Jonas, ist die, äh, ist die etwa immer noch an", "home.state",
         "switch.playstation", {}),
    ],
)  # fmt: skip
async def test_a_name_in_two_parts(make_house, text, tool, entity, arguments):
    (decision,) = await decided(make_house, text)
    assert (decision.tool, decision.entities, decision.asks) == (tool, [entity], None)
    assert decision.call.arguments.items() >= arguments.items()


@pytest.mark.parametrize(
    ("text", "tool", "entity", "arguments"),
    [
        ("Schlafzimmerrollladen auf halbe Höhe", "home.set_position", "cover.schlafzimmer",
         {"position": 50}),
        ("Fahr den Rollladen am Gartenfenster halb hoch", "home.set_position",
         "cover.gartenfenster", {"position": 50}),
        ("Den Rollladen an der Terrassentür bitte runter, also, nicht ganz, sagen wir mal auf "
         "dreißig Prozent", "home.set_position", "cover.terrassentuer", {"position": 30}),
        ("Mach den Rollladen im Schlafzimmer zu, aber nicht ganz, nur auf 40 Prozent",
         "home.set_position", "cover.schlafzimmer", {"position": 40}),
        ("Mir ist ganz schön kalt hier.", "climate.change", "climate.wohnzimmer", {"step": "up"}),
        ("Mir wird langsam richtig kalt.", "climate.change", "climate.wohnzimmer", {"step": "up"}),
        ("Im Keller brennt schon wieder Licht, dabei ist keiner unten.", "home.turn_off",
         "light.keller", {}),
        ("Im Schlafzimmer ist der Rollladen noch unten, dabei ist es längst hell.", "home.open",
         "cover.schlafzimmer", {}),
        ("der wisch robotter soll auf hören", "vacuum.stop", "vacuum.wischer", {}),
        ("Was wollte ich sagen, ach so, genau, schalt den Fernseher mal, ähm, stumm",
         "media.mute", "media_player.fernseher", {}),
    ],
)  # fmt: skip
async def test_what_is_wished_among_remarks(make_house, text, tool, entity, arguments):
    (decision,) = await decided(make_house, text)
    assert (decision.tool, decision.entities, decision.asks) == (tool, [entity], None)
    assert decision.call.arguments.items() >= arguments.items()


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Könnten Sie mir bitte sagen, wie warm es im Bad ist, bevor ich duschen gehe?",
         "climate.temperature"),
        ("Weißt du, wie spät es ist, bevor wir losfahren?", "clock.time"),
        ("Ob wir morgen wohl einen Regenschirm brauchen?", "weather.on"),
        ("Ob es am Samstag regnet?", "weather.on"),
        ("Ich weiß gerade gar nicht, welches Datum wir heute haben.", "clock.date"),
        ("Ich weiß nicht, wie spät es ist.", "clock.time"),
        ("Moment, welche Wecker, ähm, welche sind denn überhaupt gestellt", "alarms.list"),
        ("wie wird das wetter am wochen ende", "weather.on"),
        ("Wer ist denn zu Hause, bevor ich die Heizung ausmache?", None),
    ],
)  # fmt: skip
async def test_a_question_among_remarks(make_house, text, tool):
    found = await decided(make_house, text)
    assert not any(map(acts, found)) or [one.tool for one in found] == [tool]
    if tool:
        assert [one.tool for one in found] == [tool]


@pytest.mark.parametrize(
    ("text", "when", "what"),
    [
        ("Würdest du mich bitte heute Nachmittag um halb fünf daran erinnern, dass Jonas zum "
         "Training muss?", "heute Nachmittag um halb fünf", "dass Jonas zum Training muss"),
        ("Könntest du mich morgen um acht daran erinnern, den Müll rauszubringen?",
         "morgen um acht", "den Müll rauszubringen"),
        ("Kannst du uns um sieben an die Tabletten erinnern?", "um sieben", "die Tabletten"),
    ],
)  # fmt: skip
async def test_a_reminder_is_asked_for_politely(make_house, text, when, what):
    (decision,) = await decided(make_house, text)
    assert decision.tool == "reminders.add"
    assert decision.call.arguments == {"when": when, "what": what}


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Wir haben keinen Kaffee mehr, und Filtertüten sind auch alle.",
         ["Kaffee", "Filtertüten"]),
        ("Das Salz ist uns ausgegangen, und Essig haben wir auch keinen mehr", ["Salz", "Essig"]),
        ("Wir haben keine Hefe mehr und Mehl ist auch alle", ["Hefe", "Mehl"]),
        ("setz wasch mittel und klo papier auf die einkaufs liste", ["waschmittel", "klopapier"]),
        ("schreib rote bohnen und tomaten mark auf die liste", ["rote bohnen", "tomatenmark"]),
        ("Auf die Liste müssen noch, warte, Tomaten, eine Gurke und, ach ja, ein Bund Dill",
         ["Tomaten", "Gurke", "ein Bund Dill"]),
    ],
)  # fmt: skip
async def test_items(make_house, text, items):
    (decision,) = await decided(make_house, text)
    assert decision.tool == "lists.add"
    said = decision.call.arguments["items"]
    assert [one for text in said for one in split(text)] == items


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Schreib mal auf, also als Notiz, äh, dass der Schornsteinfeger am Donnerstag kommt",
         "dass der Schornsteinfeger am Donnerstag kommt"),
        ("Notiere bitte, dass der Zähler auf 4711 steht", "dass der Zähler auf 4711 steht"),
    ],
)  # fmt: skip
async def test_a_note(make_house, text, told):
    (decision,) = await decided(make_house, text)
    assert (decision.tool, decision.call.arguments["text"]) == ("notes.add", told)


@pytest.mark.parametrize(
    "text",
    [
        "Mir ist nicht kalt",
        "Mir ist nicht heiß",
        "Fragen habe ich keine mehr",
        "Ich will, dass mich Anna um acht an den Müll erinnert",
        "Ist dir kalt?",
        "Wir haben keine Zeit mehr",
        "Wir haben keine Lust mehr und die Kinder sind auch müde",
        "Du musst mich nicht um acht an den Müll erinnern",
        "Kannst du mich heute Abend nicht an den Müll erinnern?",
        "Anna hat mich um acht an den Müll erinnert",
        "Die Playstation von Jonas ist an",
        "Ich bin bei Lena",
        "Jonas spielt bei Lena",
        "Nach dem Essen die Küchenlampe aus",
        "Nach dem Duschen ist das ganze Bad voller Dampf.",
        "Der Rollladen steht auf 50 Prozent",
        "Im Keller brennt kein Licht",
        "Bevor ich gehe, mach ich das Licht aus",
        "Der Rollladen ist auf halber Höhe, oder?",
        "Ich muss endlich aufhören zu rauchen",
        "Ich weiß nicht, ob ich die Heizung ausmachen soll",
        "Kannst du, äh, mir mal eben ein, ähm, ein Taxi zum Hauptbahnhof rufen?",
        "Jonas möchte Unterwasserwelt spielen",
    ],
)
async def test_what_is_no_command(make_house, text):
    assert not any(map(acts, await decided(make_house, text)))


async def test_stuffy_air_is_why_the_fan_shall_run_and_no_wish_for_the_heating(make_house):
    text = "Stell die Lüftung im Bad auf vierzig Prozent, es ist so stickig im Bad"
    tools = {decision.tool for decision in await decided(make_house, text)}
    assert "climate.change" not in tools


async def test_up_is_a_blind_and_no_volume(make_house):
    (decision,) = await decided(make_house, "Den Rollladen bei, äh, Jonas, Quatsch, bei Lena hoch")
    assert (decision.tool, decision.entities) == ("home.open", ["cover.lena"])


async def test_who_wants_to_play_is_no_title(make_house):
    first, *others = await decided(
        make_house, "Mach bitte das Licht bei Jonas an, Lena möchte Unterwasserwelt spielen"
    )
    assert (first.tool, first.entities) == ("home.turn_on", ["light.gaming"])
    assert not any(map(acts, others))


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("Stell den Wecker um sechs auf Viertel vor sieben", "alarms.change",
         {"which": "sechs", "to": "Viertel vor sieben"}),
        ("Was steht denn noch alles auf der Packliste?", "lists.show", {"list_name": "Pack"}),
    ],
)  # fmt: skip
async def test_what_was_taken_for_something_else(make_house, text, tool, arguments):
    (decision,) = await decided(make_house, text)
    assert (decision.tool, decision.call.arguments) == (tool, arguments)
