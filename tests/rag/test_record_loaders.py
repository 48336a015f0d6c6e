"""Tables, calendars, contacts and mail: records that say what their values are of."""

from email.message import EmailMessage

import pytest

from rag import loaders
from rag.chunk import chunks_of
from rag.errors import LoadError


def load(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return loaders.load(path)


def lines(path, content):
    return load(path, content).pages[0].text.split("\n")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_rows_of_csv_are_records(tmp_path, delimiter):
    rows = [["Name", "Phone", "Born"], ["Ann", "5550 101", "1980"], ["", "", ""], ["Ben", "", "9"]]
    text = "\n".join(delimiter.join(row) for row in rows)
    assert lines(tmp_path / "a.csv", text) == [
        "- Name: Ann; Phone: 5550 101; Born: 1980",
        "- Name: Ben; Born: 9",
    ]


def test_quoted_cells_and_old_encodings(tmp_path):
    text = 'Straße,Notiz\n"Müllerweg 5","a\nb, c"\n'.encode("cp1252")
    assert lines(tmp_path / "a.csv", text) == ["- Straße: Müllerweg 5; Notiz: a b, c"]


def test_a_record_is_not_divided(tmp_path):
    rows = [f"person {n},{'word ' * 30},{n}" for n in range(60)]
    document = load(tmp_path / "a.csv", "\n".join(["Name,Note,Number", *rows]))
    text = document.pages[0].text
    for chunk in chunks_of(document):
        assert chunk.text.startswith("- Name: ")
        assert text[chunk.end : chunk.end + 1] in ("", "\n")


CALENDAR = """BEGIN:VCALENDAR
X-WR-CALNAME:Family
BEGIN:VEVENT
SUMMARY:Swimming\\, both
DTSTART;TZID=Europe/London:20260914T173000
DTEND;TZID=Europe/London:20260914T183000
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20261214
LOCATION:Pool
DESCRIPTION:Bring\\ngog
 gles
BEGIN:VALARM
DESCRIPTION:alarm
END:VALARM
END:VEVENT
BEGIN:VEVENT
SUMMARY:Holiday
DTSTART;VALUE=DATE:20260801
DTEND;VALUE=DATE:20260809
END:VEVENT
BEGIN:VEVENT
SUMMARY:Call
DTSTART:20260801T090000Z
END:VEVENT
BEGIN:VTODO
SUMMARY:Tax
DUE;VALUE=DATE:20260131
END:VTODO
BEGIN:VEVENT
SUMMARY:Bad date
DTSTART:20261399
END:VEVENT
END:VCALENDAR
"""


def test_events_say_when_in_words(tmp_path):
    assert lines(tmp_path / "a.ics", CALENDAR.replace("\n", "\r\n"))[2:] == [
        "- Swimming, both: Monday 2026-09-14 17:30 to 18:30; every 2 weeks on Monday, Wednesday"
        " until 2026-12-14; where: Pool; Bring goggles",
        "- Holiday: Saturday 2026-08-01 to Saturday 2026-08-08",
        "- Call: Saturday 2026-08-01 09:00 UTC",
        "- Tax: due Saturday 2026-01-31",
        "- Bad date",
    ]


def test_cards_of_all_versions(tmp_path):
    cards = (
        "BEGIN:VCARD\nVERSION:4.0\nFN:Dr. Ann Lee\nitem1.TEL;TYPE=cell;VALUE=uri:tel:+44 5550\n"
        "ADR;TYPE=home:;;14 Larkspur Lane;Fernbridge;;FB1;\nBDAY:19800214\nNOTE:likes\\, tea\n"
        "PHOTO:data:image/png;base64,AAAA\nEND:VCARD\n"
        "BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=\n"
        "o\nTEL;WORK;FAX:12\nEND:VCARD\n"
    )
    text = load(tmp_path / "a.vcf", cards).pages[0].text
    assert text == (
        "Dr. Ann Lee\n\n- Phone (mobile): +44 5550\n"
        "- Address (home): 14 Larkspur Lane, Fernbridge, FB1\n- Birthday: 1980-02-14\n"
        "- Note: likes, tea\n\nJo Müller\n\n- Phone (work, fax): 12"
    )


def mail(**parts):
    message = EmailMessage()
    message["Subject"] = "Boiler =?utf-8?b?5qOA5p+l?="
    message["From"] = "Ann <ann@example.org>"
    message["Date"] = "Sat, 14 Mar 2026 09:30:00 +0000"
    message.set_content(parts.get("plain", "We come on Tuesday.\n\n- bring keys\n\n> old words\n"))
    return message


def test_a_mail_is_its_subject_people_and_words(tmp_path):
    message = mail()
    message.add_alternative("<p>other words</p>", subtype="html")
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="bill.pdf")
    assert load(tmp_path / "a.eml", message.as_bytes()).pages[0].text == (
        "Boiler 检查\n\nFrom: Ann <ann@example.org>\nDate: Sat, 14 Mar 2026 09:30:00 +0000\n\n"
        "We come on Tuesday.\n\n- bring keys\n- Attachment: bill.pdf"
    )


def test_a_mail_in_html_alone_is_read_without_scripts(tmp_path):
    message = mail()
    message.set_content("<p>We come.</p><script>evil()</script>", subtype="html")
    text = load(tmp_path / "a.eml", message.as_bytes()).pages[0].text
    assert text.endswith("We come.")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.ics", "words", "no calendar"),
        ("a.vcf", "words", "no vCard"),
        ("a.eml", "words\n\nmore", "no sender"),
        ("a.eml", "Subject: x\nContent-Type: multipart/encrypted\n\nx", "encrypted"),
        ("a.csv", b"\x89PNG\r\n\x1a\n", "PNG picture"),
        ("a.vcf", "BEGIN:VCARD\nEND:VCARD\n", "no text"),
        ("a.ics", "BEGIN:VCALENDAR\n" + "BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n" * 100_001, "more"),
    ],
)
def test_what_is_none_has_a_reason(tmp_path, name, content, reason):
    with pytest.raises(LoadError, match=reason):
        load(tmp_path / name, content)
