"""What a recipe asks for, as it is written there."""

import pytest

from hubd.assistant.answers.ingredients import items_in


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (
            "For two.\n\n- 200 g rice\n- 1 onion, 2 tomatoes\n- salt\n\nFry for ten minutes.",
            ["200 g rice", "1 onion", "2 tomatoes", "salt"],
        ),
        (
            "Three eggs, 100 ml milk, a pinch of salt. Rest for an hour. Makes six.",
            ["Three eggs", "100 ml milk", "a pinch of salt"],
        ),
        ("Mix 300 g oats, 60 ml oil, and bake.", ["300 g oats", "60 ml oil"]),
        (
            "Part | Ingredients\nBase | 90 g butter, 1 egg\nTop | 1 kg plums, halved",
            ["90 g butter", "1 egg", "1 kg plums"],
        ),
        ("豆腐300克切块，加生抽两勺，炒5分钟。", ["豆腐300克", "生抽两勺"]),
        ("White bread | Fan | 225 °C | 2 | 30 to 35", []),
        ("1. Turn the tap off.\n2. Wait ten minutes.", []),
        ("Quiet hours are from 22:30 to 07:00, and until 09:00 on Sundays.", []),
    ],
)
def test_items(text: str, items: list[str]) -> None:
    assert items_in([text]) == items
