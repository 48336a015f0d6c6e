"""The appliances that a text names, each by one word.

A manual tells nothing of another appliance, though their parts and programmes often have the same
names. Must not know of questions, passages or scores.
"""

import re

_WORDS = {
    "air conditioner": r"air condition(?:ers?|ing)|klimaanlagen?",
    "boiler": r"boilers?|water heaters?|heizkessel|therme",
    "coffee machine": r"(?:coffee|espresso) (?:machines?|makers?)|kaffeemaschinen?",
    "cooker hood": r"(?:cooker|extractor|range) hoods?|dunstabzug(?:shaube)?",
    "dehumidifier": r"dehumidifiers?|(?:luft)?entfeuchter",
    "dishwasher": r"dishwashers?|geschirrspüler|spülmaschinen?",
    "dryer": r"dryers?|driers?|(?:wäsche)?trockner",
    "freezer": r"freezers?|gefrierschrank|gefriertruhe",
    "fridge": r"fridges?|refrigerators?|kühlschrank",
    "hob": r"hobs?|cooktops?|kochfeld",
    "humidifier": r"humidifiers?|(?:luft)?befeuchter",
    "kettle": r"kettles?|wasserkocher",
    "microwave": r"microwaves?|mikrowelle",
    "mower": r"(?:lawn ?)?mowers?|rasenmäher",
    "oven": r"ovens?|(?<!rice )cookers?(?! hood)|stoves?|(?:back)?ofen",
    "printer": r"printers?|drucker",
    "rice cooker": r"rice cookers?|reiskocher",
    "television": r"televisions?|tvs?|telly|fernseher",
    "toaster": r"toasters?",
    "vacuum": r"vacuums?|hoovers?|staubsauger",
    "washing machine": r"washing[ -]machines?|washers?|waschmaschinen?",
}
_CHINESE = {
    "air conditioner": "空调",
    "boiler": "壁挂炉|锅炉|热水器",
    "coffee machine": "咖啡机",
    "cooker hood": "油烟机",
    "dehumidifier": "除湿机",
    "dishwasher": "洗碗机",
    "dryer": "烘干机|干衣机",
    "freezer": "冰柜",
    "fridge": "冰箱",
    "hob": "燃气灶|电磁炉",
    "humidifier": "加湿器",
    "kettle": "热水壶|电水壶",
    "microwave": "微波炉",
    "mower": "割草机",
    "oven": "烤箱",
    "printer": "打印机",
    "rice cooker": "电饭[煲锅]",
    "television": "电视",
    "toaster": "烤面包机",
    "vacuum": "吸尘器|扫地机",
    "washing machine": "洗衣机",
}
_NAMED = {
    name: re.compile(rf"\b(?:{words})\b|{_CHINESE[name]}", re.IGNORECASE)
    for name, words in _WORDS.items()
}


def appliances_in(text: str) -> frozenset[str]:
    """Which appliances ``text`` names, each by one English word for it."""
    return frozenset(name for name, named in _NAMED.items() if named.search(text))
