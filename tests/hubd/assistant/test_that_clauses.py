"""What Germans say behind "dass", or with "zu", as it is told on, noted and reminded of."""

import pytest


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Sag bitte allen, dass das Essen auf dem Tisch steht", "das Essen steht auf dem Tisch"),
        ("sag allen das wir gleich los fahren", "wir fahren gleich los"),
        ("Sag mal allen, dass die Suppe fertig ist", "die Suppe ist fertig"),
        ("äh, sag allen im Haus, dass, also dass Lotte da ist", "Lotte ist da"),
        ("Gib bitte mal allen Bescheid, dass wir gleich losfahren", "wir fahren gleich los"),
        ("Ähm, notier mal, dass, äh, also dass der Schlüssel bei den Nachbarn liegt.",
         "der Schlüssel liegt bei den Nachbarn"),
        ("Notier bitte, dass Frau Becker den Schlüssel hat", "Frau Becker hat den Schlüssel"),
        ("Notier bitte, der Schlüssel liegt bei Oma", "der Schlüssel liegt bei Oma"),
        ("Erinnere mich bitte in 20 Minuten daran, die Wäsche aufzuhängen.",
         "Die Wäsche aufhängen: heute 12:20."),
        ("Bitte erinnere mich um 17 Uhr daran, dass ich Ida vom Hort abhole.",
         "Ida vom Hort abholen: heute 17:00."),
        ("Erinnere mich bitte heute um 16 Uhr daran, dass Oma zum Augenarzt muss.",
         "Oma muss zum Augenarzt: heute 16:00."),
        ("Also, äh, erinnere mich mal alle zwei Stunden, hm, ans Trinken.", "Trinken: alle 2"),
        ("Erinnere mich um fünf an Oma", "Oma: heute 17:00."),
    ],
)  # fmt: skip
async def test_what_is_told_noted_and_reminded_of(make_house, text, answer):
    house = await make_house("home.de.yaml")
    assert answer in (await house.say(text, language="de", area="Küche") or "")


async def test_a_reminder_is_cancelled_in_the_words_it_was_set_in(make_house):
    house = await make_house("home.de.yaml")
    await house.say("Erinnere mich um 17 Uhr daran, die Wäsche aufzuhängen", language="de")
    told = await house.say("Lösch die Erinnerung, die Wäsche aufzuhängen", language="de")
    assert house.called == ["reminders.cancel"], told
