"""E-mail (.eml): subject, who wrote to whom and when, the text, the names of attachments."""

import email
import email.policy
from email.message import EmailMessage, MIMEPart
from pathlib import Path

from rag.errors import LoadError
from rag.loaders.html import add_page
from rag.loaders.page import Block, LoadedDocument, PageBuilder, collapse
from rag.loaders.text import blocks, decode

PARTS = 1_000
_HEADERS = ("From", "To", "Cc", "Date")
_WHAT = "the e-mail"


def read(path: Path) -> LoadedDocument:
    """The message as one page of text.

    Raises:
        LoadError: it is no e-mail, damaged, or encrypted.
    """
    try:
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        if not any(message.get(name) for name in ("From", "To", "Subject", "Date")):
            raise LoadError("named .eml, but it has no sender, receiver, subject or date")
        builder = PageBuilder()
        _add(builder, message)
    except (LoadError, MemoryError, OSError):
        raise
    except Exception as error:  # the parser of headers raises whatever bad bytes lead to
        raise LoadError(f"{_WHAT} is damaged") from error
    return LoadedDocument("eml", [builder.build()])


def _add(builder: PageBuilder, message: EmailMessage) -> None:
    if message.get_content_type() == "multipart/encrypted":
        raise LoadError(f"{_WHAT} is encrypted")
    builder.heading(collapse(str(message.get("Subject") or "")) or "(no subject)", 1)
    headers = [f"{name}: {collapse(str(message.get(name)))}" for name in _HEADERS if message[name]]
    builder.paragraph("\n".join(headers))
    body = message.get_body(("plain", "html"))
    if body is not None and body.get_content_type() == "text/html":
        add_page(builder, _content(body), with_title=False)
    elif body is not None:
        _add_plain(builder, _content(body))
    for number, part in enumerate(message.walk()):
        if number >= PARTS:
            raise LoadError(f"{_WHAT} has more than {PARTS:,} parts")
        if name := part.get_filename():
            builder.item(f"Attachment: {name}")


def _content(part: MIMEPart) -> str:
    """The decoded text; in an encoding that does not exist, or a wrong one, by a guess."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        return data.decode(part.get_content_charset("utf-8")).replace("\r\n", "\n")
    except (LookupError, UnicodeDecodeError):
        return decode(data)


def _add_plain(builder: PageBuilder, text: str) -> None:
    """Plain text with its lists; what an earlier message said (``> …``) is left out."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith(">")]
    text = "\n".join(lines)
    for block in blocks(text):
        _add_block(builder, block, text[block.start : block.end])


def _add_block(builder: PageBuilder, block: Block, text: str) -> None:
    if block.kind == "item":
        builder.item(text.strip().lstrip("-*•· "))
    else:
        builder.paragraph(text)
