"""Who may do what: risk × where the wish comes from × person → allow, confirm or deny.

Every tool call is decided here, in one place, whoever asks for it. What documents, other tools or
webhooks say is data: it may be read aloud, but it never acts. A confirmation is given by a person,
in the conversation in which it was asked for; nothing here can give one.
"""

from typing import Literal

import msgspec

from plugins.api import Risk

Role = Literal["owner", "member", "guest", "child"]
Provenance = Literal["person", "model", "schedule", "document", "webhook"]
"""Where a wish comes from: what a person said or tapped, what the model made of what a person said,
a time or an event that a person set up before, a text that was found, a message from outside."""

Verdict = Literal["allow", "confirm", "deny"]

Scope = Literal["chat", "tools", "admin", "webhook", "metrics"]
"""What a device may ask of the hub: answers; to have things done; to manage it, which only an owner
may; to call webhooks; to read its figures."""
SCOPES: tuple[Scope, ...] = ("chat", "tools", "admin", "webhook", "metrics")

MAY_CONFIRM: frozenset[Role] = frozenset({"owner", "member"})
"""Guests and children do nothing dangerous."""


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody of the household, or a device that speaks for them."""

    name: str = "owner"
    role: Role = "owner"
    areas: frozenset[str] | None = None
    """The ids of the areas where they may act; ``None``: everywhere."""
    tools: tuple[str, ...] | None = None
    """The tools, or plugins, that they may use; ``None``: all."""
    acts: bool = True
    """Whether they may have anything done from where they speak; else they may only ask."""


OWNER = Person()


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who sends a request: a person, through one of their devices."""

    person: Person
    scopes: frozenset[Scope] = frozenset()
    token: str = ""
    """The id of the device's token; empty where the request proved itself otherwise."""


LOCAL_OWNER = Caller(person=OWNER, scopes=frozenset(SCOPES))
"""Whoever can open the Unix socket or read the configuration."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict, and its reason in words for the person."""

    verdict: Verdict
    reason: str = ""


def decide(
    risk: Risk, provenance: Provenance, person: Person, tool: str, areas: frozenset[str]
) -> Decided:
    """Whether ``person`` may have ``tool`` run in these areas, with a wish that came so."""
    if person.tools is not None and not {tool, tool.partition(".")[0]} & set(person.tools):
        return Decided(verdict="deny", reason=f"{person.name} may not use {tool}.")
    if person.areas is not None and risk != "read" and not areas <= person.areas:
        return Decided(verdict="deny", reason=f"{person.name} may not do anything there.")
    if risk == "read":
        return Decided(verdict="allow")
    if not person.acts:
        return Decided(verdict="deny", reason="This device may ask, but not have anything done.")
    if provenance in ("document", "webhook"):
        return Decided(verdict="deny", reason="A text or a message cannot have things done here.")
    if risk == "act":
        return Decided(verdict="allow")
    if person.role not in MAY_CONFIRM:
        return Decided(verdict="deny", reason=f"A {person.role} may not do that.")
    if provenance == "schedule":
        return Decided(
            verdict="deny", reason="That needs somebody's confirmation, and nobody is asked now."
        )
    return Decided(verdict="confirm", reason="That needs a confirmation.")


def limited(
    person: Person,
    *,
    areas: frozenset[str] | None,
    tools: tuple[str, ...] | None,
    acts: bool,
) -> Person:
    """The person as one of their devices speaks for them: what both may, and no more."""
    return msgspec.structs.replace(
        person,
        areas=_common(person.areas, areas),
        tools=_both(person.tools, tools),
        acts=person.acts and acts,
    )


def on_behalf(person: Person, author: Person) -> Person:
    """The person, as they run what somebody else has set up: what both may, and no more. By the
    name of the author where it is they who may not do all."""
    both = limited(person, areas=author.areas, tools=author.tools, acts=author.acts)
    return both if both == person else msgspec.structs.replace(both, name=author.name)


def _common(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def _both(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The tools that two lists of tools and plugins have in common."""
    if first is None or second is None:
        return second if first is None else first
    common = [name for name in first if {name, name.partition(".")[0]} & set(second)]
    return tuple(dict.fromkeys([*common, *(n for n in second if n.partition(".")[0] in first)]))
