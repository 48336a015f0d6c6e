"""Whether a text is what somebody wants to hear, or anything else that is put on or had: "put on
Nina Simone" is music, "put your shoes on" and "can I have some milk" are not.

Only how it is written tells: a title or an artist has capitals, or is said to be music.
"""

import re

_PUT = re.compile(
    r"\b(?:put|putting|stick|sticking|pop|popping|whack|bung|chuck|throw|get|have|having|hear|mood|fancy|give|find|about)\b"
)
"""Verbs of much besides music."""
_HAD = re.compile(r"\b(?:have|having|mood|fancy|give|find|about)\b(?!.*\bon\b)")
"""What is had and not "on" is eaten more often than played: it takes the full name of somebody."""
_CAPITAL = re.compile(r"(?<![\w'])(?!I\b)[A-Z][\w'’]*|\b[A-Z0-9]{2,}\b")
_MUSIC = re.compile(
    r"\b(?:songs?|albums?|playlists?|radio|music|stations?|podcasts?|soundtracks?|symphon\w+|hits|"
    r"concertos?|sonatas?|audiobooks?|tunes?|fm)\b",
    re.IGNORECASE,
)
_PLAYS = re.compile(r"(?:play|spiele?)(?: (?:some|etwas|was))?(?= \S)|(?:播放|放)(?=\S)")
_PLACED = re.compile(r"\b(?:here|there|in|on|at|hier|da|im|am|auf)\b|[在这那]")
"""Where it shall be played, and not what."""
_NO_TITLE = re.compile(
    r"[,;] (?!and\b|by\b)[a-z]|"
    r"^(?:(?:it|that|this|them|those|these|your|my|his|her|their|our|an?)\b|[\w’']+['’]s [a-z])|"
    r"\b(?:timers?|alarms?|lists?|kettle|oven|lights?|lamps?|heating|washing|fans?|percent|degrees)\b",
    re.IGNORECASE,
)


def is_played(query: str, said: str) -> bool:
    """Whether ``query`` may be played; said: the sentence, plain."""
    if not _PUT.search(said):
        return True
    if _NO_TITLE.search(query):
        return False
    written = _CAPITAL.findall(query)
    return _MUSIC.search(query) is not None or len(written) > (1 if _HAD.search(said) else 0)


def played_instead(begun: str, instead: str) -> list[str]:
    """What shall be played where ``begun``, a command, says another title first: "play NDR 2, no,
    WDR 2"; none where it plays nothing, or it is only said where."""
    plays = _PLAYS.match(begun)
    return [f"{plays[0]} {instead}"] if plays and not _PLACED.search(instead) else []
