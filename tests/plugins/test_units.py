"""Units: against the values of NIST's Special Publication 811, and as people say them."""

import asyncio
import math
from decimal import Decimal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins import units
from plugins.api import ToolError
from plugins.units import converted, parsed, unit_of

_fits = units.plugin.tools["units.convert"].fits
NIST = [
    ("mile", "meter", "1609.344"),
    ("pound", "gram", "453.59237"),
    ("inch", "centimeter", "2.54"),
    ("gallon", "liter", "3.785411784"),
    ("fluid_ounce", "milliliter", "29.5735295625"),
    ("acre", "meter**2", "4046.872609874"),
    ("cup", "milliliter", "236.5882365"),
    ("kilowatt_hour", "kilojoule", "3600"),
    ("bar", "hectopascal", "1000"),
    ("jin", "gram", "500"),
    ("li", "meter", "500"),
    ("metric_ton", "kilogram", "1000"),
    ("mile_per_hour", "kilometer_per_hour", "1.609344"),
    ("week", "hour", "168"),
]


@pytest.mark.parametrize(("unit", "to", "value"), NIST)
def test_one_of_a_unit_is_what_the_tables_say(unit, to, value):
    assert math.isclose(converted(Decimal(1), unit, to), Decimal(value), rel_tol=1e-9)


@settings(deadline=None)
@given(st.integers(-273, 10_000))
def test_temperatures_have_two_zeros(celsius):
    fahrenheit = converted(Decimal(celsius), "degree_Celsius", "degree_Fahrenheit")
    assert math.isclose(fahrenheit, Decimal(celsius) * 9 / 5 + 32, abs_tol=1e-9)
    assert math.isclose(
        converted(fahrenheit, "degree_Fahrenheit", "degree_Celsius"), celsius, abs_tol=1e-9
    )


def test_every_unit_of_the_table_is_one_of_pints():
    names = yaml.safe_load((units.Path(units.__file__).parent / "units.yaml").read_text("utf-8"))
    for name in names:
        units._registry().Unit(name)


def test_no_word_means_two_units():
    rows = yaml.safe_load((units.Path(units.__file__).parent / "units.yaml").read_text("utf-8"))
    for language in ("en", "zh", "de", "fr", "es"):
        words = [w for row in rows.values() for key in ("all", language) for w in row.get(key, ())]
        assert len(words) == len(set(words)), sorted(w for w in words if words.count(w) > 1)


QUANTITIES = [
    ("en", "3 cups", "3", "cup"),
    ("en", "350 F", "350", "degree_Fahrenheit"),
    ("en", "a pound", "1", "pound"),
    ("en", "two and a half liters", "2.5", "liter"),
    ("en", "1/2 cup", "0.5", "cup"),
    ("en", "-40°C", "-40", "degree_Celsius"),
    ("en", "500g", "500", "gram"),
    ("zh", "三杯", "3", "cup"),
    ("zh", "两斤", "2", "jin"),
    ("zh", "一百摄氏度", "100", "degree_Celsius"),
    ("de", "3,5 Zoll", "3.5", "inch"),
    ("fr", "une livre", "1", "pound"),
    ("es", "dos millas", "2", "mile"),
]


@pytest.mark.parametrize(("language", "said", "number", "unit"), QUANTITIES)
def test_a_quantity_is_read(language, said, number, unit):
    assert parsed(said, language) == (Decimal(number), unit)


@pytest.mark.parametrize(
    "said", ["the light", "cups", "5", "", "milk in the bottom", "room", "3 pies"]
)
def test_what_is_no_quantity(said):
    assert parsed(said, "en") is None


def test_a_single_letter_is_a_unit_only_behind_a_number():
    assert parsed("5 m", "en") == (Decimal(5), "meter")
    assert parsed("room", "en") is None
    assert unit_of("bathroom", "en") is None


SPOKEN = [
    ("en", "a third of a cup", "tablespoons", "5.333"),
    ("en", "a quarter cup", "tablespoons", "4"),
    ("en", "three quarters of a cup", "millilitres", "177.4"),
    ("en", "three-quarter cup", "ml", "177.4"),
    ("en", "a cup and a half of sugar", "ml", "354.9"),
    ("en", "half of two cups", "ml", "236.6"),
    ("en", "four hundred grams of flour", "ounces", "14.11"),
    ("en", "a hundred and eighty mil", "ounces", "6.087"),
    ("en", "half a pint", "ml", "236.6"),
    ("en", "um, minus forty degrees Fahrenheit", "degrees Celsius", "-40"),
    ("de", "dreihundertfünfzig Grad Fahrenheit", "Grad Celsius", "176,7"),
    ("de", "achtunddreißig Komma fünf Grad", "Grad Fahrenheit", "101,3"),
    ("de", "ein halbes Pfund", "Gramm", "250"),
    ("de", "anderthalb Liter", "Milliliter", "1500"),
    ("de", "ein Liter und ein halber", "Milliliter", "1500"),
    ("de", "dreiviertel Liter Milch", "Milliliter", "750"),
    ("de", "ein Viertel von einem Liter", "Milliliter", "250"),
    ("de", "zwei Esslöffel", "Milliliter", "29,57"),
    ("de", "zwei Esslöffeln Zucker", "Milliliter", "29,57"),
    ("de", "zwei hundert vier zig Gramm Mehl", "Kilogramm", "0,24"),
    ("zh", "五斤", "克", "2500"),
    ("zh", "五斤", "千克", "2.5"),
    ("zh", "两磅牛肉", "公斤", "0.9072"),
    ("zh", "半斤", "克", "250"),
    ("zh", "一斤半", "克", "750"),
    ("zh", "三两牛肉", "克", "150"),
    ("zh", "两斤五花肉", "克", "1000"),
    ("zh", "一杯牛奶", "毫升", "236.6"),
    ("zh", "三分之一杯", "毫升", "78.86"),
    ("zh", "三英尺", "厘米", "91.44"),
    ("zh", "三十八度五", "华氏度", "101.3"),
    ("zh", "一个半小时", "分钟", "90"),
    ("zh", "一百六克", "千克", "0.16"),
    ("zh", "零下十度", "华氏度", "14"),
]


@pytest.mark.parametrize(("language", "said", "unit", "shown"), SPOKEN)
async def test_a_quantity_is_read_as_it_is_said(workshop, language, said, unit, shown):
    assert _fits({"quantity": said, "unit": unit}, language)
    result = await workshop("units.convert", language, quantity=said, unit=unit)
    glue, stop = ("", "。") if language == "zh" else (" ", ".")
    assert result.text == f"{said} = {shown}{glue}{unit}{stop}"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "how many days"),
        ("en", "two lamps"),
        ("en", "20 minutes and a lamp"),
        ("en", "two cups of flour and an egg"),
        ("en", "twenty, uh, five cups"),
        ("en", "twenty third cups"),
        ("en", "a hundred and five eighths cups"),
        ("en", "half a dozen cups"),
        ("en", "five ounces of gold"),  # troy ounces
        ("en", "five bars of chocolate"),
        ("en", "5 ; 3 cups"),
        ("en", "1.2.3 cups of tea"),
        ("en", "the cup"),
        ("de", "fünf Pfund Sterling"),
        ("de", "5 in der Früh"),
        ("de", "fünf Liter pro Minute"),
        ("de", "zwanzig Minuten nach acht"),
        ("de", "fünf Kilo Watt"),
        ("de", "fünf Meter zwanzig"),
        ("de", "zwei Grad mehr"),
        ("zh", "八两是多少克"),
        ("zh", "五一天气好吗"),
        ("zh", "一四斤"),
        ("zh", "两百度上下"),
        ("zh", "五克拉"),
        ("zh", "五百瓦时"),
        ("zh", "一百二十毫米汞柱"),
        ("zh", "三天后"),
        ("zh", "一两百克"),
        ("zh", "一斤三两"),
        ("zh", "两斤多"),
        ("zh", "零分之一杯"),
        ("zh", "多少天"),
        ("zh", "两盏灯"),
    ],
)
def test_what_is_no_quantity_or_two_is_left_alone(language, said):
    assert parsed(said, language) is None


async def test_a_volume_has_no_mass(workshop):
    with pytest.raises(ToolError, match="same thing"):
        await workshop("units.convert", quantity="two cups of flour", unit="ounces")
    with pytest.raises(ToolError, match="same thing"):
        await workshop("units.convert", quantity="two cups", unit="grams")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text):
    for language in ("en", "zh", "de", "fr", "es"):
        parsed(text, language)


SENTENCES = [
    ("en", "3 cups in ml", "3 cups", "ml"),
    ("en", "convert 350 F to celsius", "350 F", "celsius"),
    ("en", "What is 5 miles in km?", "5 miles", "km"),
    ("en", "how many ounces are in a pound", "a pound", "ounces"),
    ("en", "how many minutes are there in 3 hours", "3 hours", "minutes"),
    ("en", "please convert two and a half liters into gallons", "two and a half liters", "gallons"),
    ("zh", "三杯是多少毫升", "三杯", "毫升"),
    ("zh", "把两斤换算成克", "两斤", "克"),
    ("de", "wie viele Gramm sind 2 Pfund", "2 Pfund", "Gramm"),
    ("de", "3 Zoll in cm", "3 Zoll", "cm"),
    ("de", "wie viel gramm acht unzen sind", "acht unzen", "gramm"),
    ("de", "Weißt du, wie viel Liter drei Pints sind?", "drei Pints", "liter"),
    ("fr", "combien font 5 miles en km", "5 miles", "km"),
    ("es", "convierte 5 kilómetros a millas", "5 kilómetros", "millas"),
]


@pytest.mark.parametrize(("language", "text", "quantity", "unit"), SENTENCES)
def test_a_question_is_understood(understood, language, text, quantity, unit):
    assert understood(text, language) == ("units.convert", {"quantity": quantity, "unit": unit})


@pytest.mark.parametrize(
    "text",
    ["how many days are in the lease", "what is 100 in euros", "is there milk in the fridge"],
)
def test_a_question_for_the_documents_is_left_alone(understood, text):
    assert understood(text) is None


@pytest.mark.parametrize(
    ("language", "quantity", "unit", "told"),
    [
        ("en", "350 F", "celsius", "350 F = 176.7 degrees Celsius."),
        ("en", "350 fahrenheit", "celsius", "350 degrees Fahrenheit = 176.7 degrees Celsius."),
        ("de", "350 Fahrenheit", "Celsius", "350 Grad Fahrenheit = 176,7 Grad Celsius."),
        ("de", "20 Grad", "Grad Fahrenheit", "20 Grad = 68 Grad Fahrenheit."),
        ("de", "20 °C", "°F", "20 °C = 68 °F."),
        ("zh", "350华氏", "摄氏", "350华氏度 = 176.7摄氏度。"),
    ],
)
async def test_a_temperature_is_told_in_degrees(workshop, language, quantity, unit, told):
    assert (await workshop("units.convert", language, quantity=quantity, unit=unit)).text == told


async def test_the_answer(workshop):
    assert (
        await workshop("units.convert", quantity="3 cups", unit="ml")
    ).text == "3 cups = 709.8 ml."
    assert (
        await workshop("units.convert", "zh", quantity="两斤", unit="克")
    ).text == "两斤 = 1000克。"
    assert (
        await workshop("units.convert", "de", quantity="1 Zoll", unit="cm")
    ).text == "1 Zoll = 2,54 cm."
    assert (
        await workshop("units.convert", "de", quantity="ein Pfund", unit="Gramm")
    ).text == "ein Pfund = 500 Gramm."
    with pytest.raises(ToolError, match="same thing"):
        await workshop("units.convert", quantity="5 kg", unit="meters")
    with pytest.raises(ToolError, match="parsecs"):
        await workshop("units.convert", quantity="5 km", unit="parsecs")


async def test_the_library_is_loaded_beside_the_event_loop(workshop):
    units._loaded.cache_clear()
    beats, loaded = 0, asyncio.create_task(workshop("units.convert", quantity="1 km", unit="m"))
    while not loaded.done():
        await asyncio.sleep(0.001)
        beats += 1
    assert loaded.result().text == "1 km = 1000 m."
    assert beats > 10  # a fifth of a second of loading on the loop would leave room for two
