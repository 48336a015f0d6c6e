"""Things with their articles."""

import pytest

from plugins.articles import with_article, with_articles

NAMES = [
    ("Haustür", "de", "die Haustür", "die Haustür"),
    ("Garagentor", "de", "das Garagentor", "das Garagentor"),
    ("Ventilator", "de", "der Ventilator", "den Ventilator"),
    ("Küchenrollladen", "de", "der Küchenrollladen", "den Küchenrollladen"),
    ("Spots", "de", "die Spots", "die Spots"),
    ("Omas Lampe", "de", "Omas Lampe", "Omas Lampe"),
    ("Robbi", "de", "Robbi", "Robbi"),
    ("Front Door", "en", "the Front Door", "the Front Door"),
    ("Owen's Lamp", "en", "Owen's Lamp", "Owen's Lamp"),
    ("Dusty", "en", "Dusty", "Dusty"),
    ("Porte d'entrée", "fr", "la porte d'entrée", "la porte d'entrée"),
    ("Aspirateur", "fr", "l'aspirateur", "l'aspirateur"),
    ("Portón", "es", "el portón", "el portón"),
    ("入户门", "zh", "入户门", "入户门"),
]


@pytest.mark.parametrize(("name", "language", "subject", "object_"), NAMES)
def test_a_name_with_its_article(name, language, subject, object_):
    assert with_article(name, language) == subject
    assert with_article(name, language, "object") == object_


def test_several():
    assert with_articles(["Tor", "Markise"], "de", "object") == "das Tor und die Markise"
