"""Questions for the state of one thing of the home, and those that are for the documents."""

import pytest

ASKED = [
    ("en", "how warm has the canal got", ["sensor.canal_temperature"]),
    ("en", "what's the temperature of the canal just now?", ["sensor.canal_temperature"]),
    ("en", "I wonder if the boat shed door is open", ["cover.boat_shed_door"]),
    ("en", "I'm not sure whether the annexe door is locked", ["lock.annexe_door"]),
    ("en", "towpath gate shut?", ["lock.towpath_gate"]),
    ("de", "Weißt du, ob die Kellertür abgesperrt ist?", ["lock.kellertuer"]),
    ("de", "Hab ich die Wohnungstür zugesperrt?", ["lock.wohnungstuer"]),
    ("de", "Malte schon daheim?", ["person.malte"]),
    ("de", "wie feucht ist es denn in der Kellerwerkstatt", ["sensor.kellerfeuchte"]),
    ("de", "Ist was im Briefkasten?", ["binary_sensor.briefkasten"]),
    ("zh", "不晓得大门锁好没有", ["lock.damen"]),
    ("zh", "帮我看一下妈妈回来没有", ["person.mama"]),
    ("zh", "阳台好多度", ["sensor.yangtai"]),
]
NOT_ASKED = [
    ("en", "how warm can the canal get"),
    ("en", "how warm should the canal be"),
    ("en", "when was the boat shed door painted"),
    ("en", "why is the towpath gate open"),
    ("en", "is the boat shed door under warranty?"),
    ("en", "what does it mean when the annexe door is open"),
    ("en", "I told Priya that the annexe door is locked"),
    ("de", "Wie oft muss die Kellertür geölt werden?"),
    ("de", "Warum ist die Kellertür offen?"),
    ("de", "Wann wurde die Markise gekauft?"),
    ("de", "Wie feucht darf es in der Kellerwerkstatt sein?"),
    ("de", "Machst du bitte die Kellertür auf?"),
    ("zh", "大门锁怎么换电池"),
    ("zh", "阳台最高多少度"),
    ("zh", "大门锁的保修期过了没有"),
]


@pytest.fixture(scope="module")
def routers(real_router):
    return {language: real_router(f"home6.{language}.yaml") for language in ("en", "de", "zh")}


@pytest.mark.parametrize(("language", "said", "entities"), ASKED)
def test_the_thing_that_is_named_is_asked(routers, language, said, entities):
    decision = routers[language].route(said, language=language)
    assert decision.tool in ("home.state", "climate.temperature")
    assert decision.entities == entities


@pytest.mark.parametrize(("language", "said"), NOT_ASKED)
def test_what_is_for_the_documents_stays_so(routers, language, said):
    assert routers[language].route(said, language=language).tool != "home.state"
