"""Every minute of a day as people say it in French and Spanish, and what is left of a sentence."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.days import DAILY, WEEKDAYS
from plugins.numbers import number_words
from plugins.when import parse

NOW = datetime(2026, 11, 29, 3, tzinfo=UTC)  # a Sunday
ONE = {"fr": "une", "es": "una"}
FEMALE = {"fr": {21: "vingt et une"}, "es": {21: "veintiuna"}}
FRENCH_PARTS = ((0, 12, "du matin"), (12, 18, "de l'après-midi"), (18, 24, "du soir"))
SPANISH_PARTS = ((0, 6, "de la madrugada"), (6, 12, "de la mañana"), (12, 20, "de la tarde"),
                 (20, 24, "de la noche"))  # fmt: skip


def in_words(number, language):
    if number == 1:
        return ONE[language]
    words = {int(n): word for word, n in reversed(number_words(language).items())}
    return FEMALE[language].get(number) or words[number]


def part_of(hour, parts):
    return next(part for first, last, part in parts if first <= hour < last)


def french(hour, minute):
    """The ways to say a time of the day, all of which say the half of the day."""
    part = part_of(hour, FRENCH_PARTS)
    written = f"à {hour} heures {minute:02}" if minute else f"à {hour} heures"
    ways = [f"à {hour}h{minute:02}", f"à {hour}:{minute:02}", written]
    here, following = (_french_hour(one) for one in (hour, (hour + 1) % 24))
    behind = "" if hour in (0, 12) else f" {part}"
    if minute:
        ways.append(f"à {here} {in_words(minute, 'fr')}{behind}")
    else:
        ways.append(f"à {here}{behind}")
    if minute == 15:
        ways.append(f"à {here} et quart{behind}")
    if minute == 30:
        ways.append(f"à {here} et demie{behind}")
    if minute > 30 and hour not in (11, 17, 23):
        after = "" if (hour + 1) % 24 in (0, 12) else f" {part_of((hour + 1) % 24, FRENCH_PARTS)}"
        left = "le quart" if minute == 45 else in_words(60 - minute, "fr")
        ways.append(f"à {following} moins {left}{after}")
    return ways


def _french_hour(hour):
    if hour in (0, 12):
        return "midi" if hour else "minuit"
    twelve = in_words(hour % 12, "fr")
    return f"{twelve} heure{'s' if hour % 12 > 1 else ''}"


def spanish(hour, minute):
    """As `french`."""
    ways = [f"a las {hour}:{minute:02}", f"a las {hour}:{minute:02} horas"]
    here = _spanish_hour(hour)
    part = part_of(hour, SPANISH_PARTS)
    if minute:
        ways.append(f"a {here} y {in_words(minute, 'es')} {part}")
        ways.append(f"{part} a {here} y {in_words(minute, 'es')}".replace("de la", "por la"))
    else:
        ways.append(f"a {here} {part}")
        ways.append(f"a {here} en punto {part}")
    if minute == 15:
        ways.append(f"a {here} y cuarto {part}")
    if minute == 30:
        ways.append(f"a {here} y media {part}")
    if minute > 30 and hour not in (5, 11, 19, 23):
        left = "cuarto" if minute == 45 else in_words(60 - minute, "es")
        ways.append(f"a {_spanish_hour(hour + 1)} menos {left} {part}")
    return ways


def _spanish_hour(hour):
    twelve = hour % 12 or 12
    return f"{'la' if twelve == 1 else 'las'} {in_words(twelve, 'es')}"


@pytest.mark.parametrize("hour", range(24))
@pytest.mark.parametrize(("language", "ways"), [("fr", french), ("es", spanish)])
def test_every_minute_of_the_day(hour, language, ways):
    for minute in range(60):
        for said in ways(hour, minute):
            when = parse(said, language, NOW)
            assert (when.at, when.rest) == (time(hour, minute), ""), said


@given(st.integers(13, 23), st.integers(1, 59), st.sampled_from(["fr", "es"]))
def test_an_hour_of_the_afternoon_in_words(hour, minute, language):
    at, hours = ("à", " heures") if language == "fr" else ("a las", "")
    said = f"{at} {in_words(hour, language)}{hours} {in_words(minute, language)}"
    when = parse(said, language, NOW)
    assert (when.at, when.exact, when.rest) == (time(hour, minute), True, "")


@given(st.integers(0, 23), st.integers(0, 59).filter(lambda minute: minute != 1), st.data())
def test_a_task_is_no_part_of_its_time(hour, minute, data):
    """Not of one minute: "y una" may as well count what comes behind it."""
    language, ways, task = data.draw(
        st.sampled_from([("fr", french, "de nourrir le chat"), ("es", spanish, "dar de comer")])
    )
    said = data.draw(st.sampled_from(ways(hour, minute)))
    day = "demain" if language == "fr" else "mañana"
    for whole in (f"{day} {said} {task}", f"{task} {day} {said}"):
        when = parse(whole, language, NOW)
        assert (when.at, when.rest) == (time(hour, minute), task), whole
        assert when.on == (NOW + timedelta(days=1)).date()


@pytest.mark.parametrize(
    ("language", "said", "rest", "at", "on"),
    [
        ("fr", "vendredi après-midi à cinq heures de ranger", "de ranger", time(17), 4),
        ("fr", "lundi matin à neuf heures de peindre", "de peindre", time(9), 30),
        ("fr", "mercredi soir de fermer à huit heures", "de fermer", time(20), 2),
        ("fr", "coiffeur mardi prochain à 16h45", "coiffeur", time(16, 45), 1),
        ("fr", "coiffeur mardi qui vient à 16h45", "coiffeur", time(16, 45), 1),
        ("fr", "ce soir à neuf heures moins vingt", "", time(20, 40), 29),
        (
            "fr",
            "demain soir de rentrer le linge à sept heures",
            "de rentrer le linge",
            time(19),
            30,
        ),
        ("fr", "le soir de fermer à huit heures", "de fermer", time(20), None),
        ("es", "por la noche cerrar a las ocho", "cerrar", time(20), None),
        ("fr", "à vingt heures dix œufs", "dix œufs", time(20), None),
        ("es", "el viernes por la tarde a las cinco ordenar", "ordenar", time(17), 4),
        ("es", "el lunes por la mañana pintar a las nueve", "pintar", time(9), 30),
        ("es", "peluquero el martes que viene a las diez", "peluquero", time(10), 1),
        ("es", "peluquero el próximo martes a las diez", "peluquero", time(10), 1),
        ("es", "esta noche a las diez menos veinte", "", time(21, 40), 29),
        ("es", "mañana por la noche recoger la ropa a las siete", "recoger la ropa", time(19), 30),
        ("es", "regar las dos plantas a las diez", "regar las dos plantas", time(10), None),
        ("es", "a las doce de la noche", "", time(0), None),
        ("es", "a las doce de la mañana", "", time(12), None),
        ("es", "un cuarto para las ocho", "", time(7, 45), None),
        ("es", "comprar dos para las diez", "comprar dos", time(10), None),
    ],
)
def test_a_day_with_its_part(language, said, rest, at, on):
    when = parse(said, language, NOW)
    assert (when.rest, when.at, when.on and when.on.day) == (rest, at, on)


@pytest.mark.parametrize(
    ("language", "said", "days"),
    [
        ("fr", "à six heures tous les jours de la semaine", WEEKDAYS),
        ("fr", "à six heures du lundi au vendredi", WEEKDAYS),
        ("fr", "à six heures tous les matins en semaine", WEEKDAYS),
        ("fr", "à six heures tous les jours sauf le week-end", WEEKDAYS),
        ("fr", "du mardi au samedi à 6 heures", (1, 2, 3, 4, 5)),
        ("fr", "les mardis et jeudis à 6 heures", (1, 3)),
        ("fr", "tous les jours à 6 heures", DAILY),
        ("fr", "à 6 heures le week-end", (5, 6)),
        ("es", "a las seis de lunes a viernes", WEEKDAYS),
        ("es", "a las seis los días laborables", WEEKDAYS),
        ("es", "a las seis todos los días de lunes a viernes", WEEKDAYS),
        ("es", "de martes a sábado a las seis", (1, 2, 3, 4, 5)),
        ("es", "los martes y jueves a las seis", (1, 3)),
        ("es", "todos los días a las seis", DAILY),
    ],
)
def test_days_that_come_again(language, said, days):
    when = parse(said, language, NOW)
    assert (when.at, when.repeat, when.on, when.rest) == (time(6), days, None, "")


@pytest.mark.parametrize(
    ("language", "said", "minutes"),
    [("fr", "dans un quart d'heure", 15), ("fr", "dans trois quarts d'heure", 45),
     ("fr", "dans une demi-heure", 30), ("fr", "dans une heure et demie", 90),
     ("fr", "dans deux heures et quart", 135), ("fr", "dans une heure vingt", 80),
     ("fr", "d'ici vingt-cinq minutes", 25),
     ("es", "dentro de un cuarto de hora", 15), ("es", "en tres cuartos de hora", 45),
     ("es", "en media hora", 30), ("es", "dentro de hora y media", 90),
     ("es", "en dos horas y cuarto", 135), ("es", "en una hora y veinte minutos", 80),
     ("es", "dentro de ocho horas", 480)],
)  # fmt: skip
def test_how_long_from_now(language, said, minutes):
    when = parse(said, language, NOW)
    assert (when.delay, when.rest) == (timedelta(minutes=minutes), "")
