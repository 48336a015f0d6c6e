"""Backup and restore: consistent while others write, whole or not at all, nothing trusted."""

import io
import json
import os
import tarfile
import threading
import time
import tomllib
from hashlib import sha256

import apsw
import pytest

from hubd import lock
from hubd.home.link import Link
from hubd.home.link import save as save_link
from hubd.missing_secrets import missing_secrets
from hubd.private import SecretFile
from hubd.store.backup import (
    BackupError,
    _without_secrets,
    back_up,
    back_up_into,
    backups_in,
    restore,
)
from hubd.store.database import Database
from hubd.store.export import ExportError, export
from hubd.store.webhooks import Webhook, Webhooks
from rag import uploads


@pytest.fixture
async def home(paths):
    """A home with a turn, an upload and a configuration that holds a secret."""
    database = await Database.open(paths.database)
    await database.run(add_turn)
    await database.close()
    (paths.uploads / "ab").mkdir()
    (paths.uploads / "ab" / "lease.pdf").write_bytes(b"%PDF lease")
    paths.config_file.write_text('[http]\ntoken = "hunter2 hunter2"\nport = 8400\n')
    return paths


def add_turn(connection):
    connection.execute("INSERT INTO conversation (id, started_at) VALUES ('c', '2026-01-01')")
    connection.execute(
        "INSERT INTO turn (conversation, at, utterance, answer, outcome)"
        " VALUES ('c', '2026-01-01', 'Where is the stopcock?', 'Under the sink.', 'answered')"
    )


def utterances(paths):
    connection = apsw.Connection(str(paths.database))
    found = [row[0] for row in connection.execute("SELECT utterance FROM turn")]
    connection.close()
    return found


def repacked(file, change):
    """The backup again, its members as ``change(name, data)`` gives them; None leaves one out."""
    with tarfile.open(file) as tar:
        members = [(info, tar.extractfile(info).read()) for info in tar]
    with tarfile.open(file, "w:gz") as tar:
        for info, data in members:
            changed = change(info.name, data)
            if changed is not None:
                info.name, data = changed
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))


def test_what_was_backed_up_comes_back(home, tmp_path):
    file = tmp_path / "out" / "home.tar.gz"
    back_up(home, file)
    assert file.stat().st_mode & 0o777 == 0o600
    home.database.unlink()
    (home.uploads / "ab" / "lease.pdf").unlink()
    home.config_file.unlink()
    aside = restore(home, file)
    assert aside is not None  # the uploads folder was still there
    assert utterances(home) == ["Where is the stopcock?"]
    assert (home.uploads / "ab" / "lease.pdf").read_bytes() == b"%PDF lease"
    assert "port = 8400" in home.config_file.read_text()


def test_what_was_there_before_is_kept(home, tmp_path):
    file = tmp_path / "home.tar.gz"
    back_up(home, file)
    connection = apsw.Connection(str(home.database))
    connection.execute("UPDATE turn SET utterance = 'newer'")
    connection.close()
    aside = restore(home, file)
    assert utterances(home) == ["Where is the stopcock?"]
    assert b"newer" in (aside / "hubd.db").read_bytes()
    assert "hunter2" in home.config_file.read_text()  # a configuration in use is left alone


def test_secrets_stay_at_home_unless_asked_for(home, tmp_path):
    for secrets in (False, True):
        file = tmp_path / f"{secrets}.tar.gz"
        back_up(home, file, secrets=secrets)
        with tarfile.open(file) as tar:
            text = tar.extractfile("hubd.toml").read().decode()
        assert ("hunter2" in text) is secrets
        assert "port = 8400" in text


def test_a_backup_is_consistent_while_others_write(home, tmp_path):
    """Two tables that always change together are equal in the copy."""
    connection = apsw.Connection(str(home.database))
    connection.execute("CREATE TABLE a (n); CREATE TABLE b (n)")
    end = threading.Event()

    def write():
        own = apsw.Connection(str(home.database))
        own.set_busy_timeout(10_000)
        n = 0
        while not end.is_set():
            with own:
                own.execute("INSERT INTO a VALUES (?)", (n,))
                own.execute("INSERT INTO b VALUES (?)", (n,))
            n += 1
        own.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            back_up(home, tmp_path / f"{number}.tar.gz")
    finally:
        end.set()
        writer.join()
    connection.close()
    for number in range(5):
        restore(home, tmp_path / f"{number}.tar.gz")
        found = apsw.Connection(str(home.database))
        counts = found.execute("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)")
        a, b = counts.fetchone()
        found.close()
        assert a == b


def test_a_backup_is_whole_while_documents_come_and_go(home, tmp_path):
    data = tmp_path / "letter.txt"
    data.write_bytes(os.urandom(1 << 20))
    end = threading.Event()

    def come_and_go():
        while not end.is_set():
            uploads.settle(uploads.keep(home.uploads, data.name, data), used=False)
            time.sleep(0.02)

    others = threading.Thread(target=come_and_go)
    others.start()
    try:
        for number in range(20):
            back_up(home, tmp_path / f"{number}.tar.gz")
    finally:
        end.set()
        others.join()
    for number in range(20):
        restore(home, tmp_path / f"{number}.tar.gz")
        assert (home.uploads / "ab" / "lease.pdf").read_bytes() == b"%PDF lease"
        assert not list(home.uploads.glob(f"{uploads.INCOMING}*"))


def test_only_the_newest_are_kept(home, tmp_path):
    for day in range(1, 6):
        (tmp_path / f"hubd-backup-2020010{day}-000000.tar.gz").touch()
    (tmp_path / "notes.txt").touch()
    newest = back_up_into(home, tmp_path, keep=3)
    assert backups_in(tmp_path)[0] == newest
    assert [path.name[12:20] for path in backups_in(tmp_path)[1:]] == ["20200105", "20200104"]
    assert (tmp_path / "notes.txt").exists()


def test_a_running_home_is_not_restored_into(home, tmp_path):
    back_up(home, tmp_path / "home.tar.gz")
    with lock.hold(home.lock), pytest.raises(BackupError, match="already running"):
        restore(home, tmp_path / "home.tar.gz")


def forged(manifest):
    def change(name, data):
        if name == "manifest.json":
            parsed = json.loads(data)
            manifest(parsed)
            return name, json.dumps(parsed).encode()
        return name, data

    return change


def listed(name, data):
    def add(manifest):
        entry = {"size": len(data), "sha256": sha256(data).hexdigest()}
        manifest["members"][name] = entry

    return add


BAD = {
    "a changed document": lambda n, d: (n, b"%PDF LEASE") if n.startswith("uploads") else (n, d),
    "a missing document": lambda n, d: None if n.startswith("uploads") else (n, d),
    "an unlisted name": lambda n, d: ("uploads/x", d) if n.startswith("uploads") else (n, d),
    "no manifest": lambda n, d: None if n == "manifest.json" else (n, d),
    "a manifest that is not JSON": lambda n, d: (n, b"{") if n == "manifest.json" else (n, d),
    "a way out of the folder": forged(listed("uploads/../../evil", b"x")),
    "an absolute name": forged(listed("/etc/passwd", b"x")),
    "a strange name": forged(listed("hubd.lock", b"x")),
    "a newer format": forged(lambda m: m.update(format=2)),
    "no database": forged(lambda m: m["members"].pop("hubd.db")),
    "a database that is none": lambda n, d: (n, b"x" * len(d)) if n == "hubd.db" else (n, d),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_a_bad_backup_is_refused_and_changes_nothing(home, tmp_path, change):
    file = tmp_path / "home.tar.gz"
    back_up(home, file)
    repacked(file, change)
    with pytest.raises(BackupError):
        restore(home, file)
    assert utterances(home) == ["Where is the stopcock?"]
    assert not (tmp_path / "evil").exists()


def test_a_damaged_database_in_a_backup_that_is_otherwise_right_is_refused(home, tmp_path):
    file = tmp_path / "home.tar.gz"
    back_up(home, file)
    data = b"no database" * 1000

    def change(name, content):
        if name == "manifest.json":
            return forged(listed("hubd.db", data))(name, content)
        return (name, data) if name == "hubd.db" else (name, content)

    repacked(file, change)
    with pytest.raises(BackupError, match="database in the backup is damaged"):
        restore(home, file)
    assert utterances(home) == ["Where is the stopcock?"]


def test_a_backup_cut_short_anywhere_is_refused(home, tmp_path):
    whole = tmp_path / "home.tar.gz"
    back_up(home, whole)
    data = whole.read_bytes()
    for part in range(1, 20):
        cut = tmp_path / "cut.tar.gz"
        cut.write_bytes(data[: len(data) * part // 20])
        with pytest.raises(BackupError):
            restore(home, cut)
    assert utterances(home) == ["Where is the stopcock?"]


def test_a_backup_that_cannot_be_written_leaves_nothing(home, tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(BackupError):
        back_up(home, target)  # a folder is in its place
    assert list(target.iterdir()) == []
    assert not list(tmp_path.glob(".hubd-backup-*"))


def test_an_export_is_plain_json_and_the_documents(home, tmp_path):
    counts = export(home, tmp_path / "plain")
    assert counts["turn"] == 1
    turn = json.loads((tmp_path / "plain" / "turn.json").read_text())[0]
    assert turn["answer"] == "Under the sink."
    assert (tmp_path / "plain" / "documents" / "ab" / "lease.pdf").exists()
    with pytest.raises(ExportError, match="not empty"):
        export(home, tmp_path / "plain")


def test_the_commands_say_where(environment, hubd, served, tmp_path):
    with served():
        made = hubd("backup")
        assert made.returncode == 0, made.stderr
        file = made.stdout.split(": ")[0]
        refused = hubd("restore", file)
        assert refused.returncode == 1
        assert "already running" in refused.stderr
    restored = hubd("restore", file)
    assert restored.returncode == 0, restored.stderr
    assert "What was there before is in" in restored.stdout
    assert "Some secrets were not in the backup" in restored.stdout
    assert hubd("export", str(tmp_path / "plain")).returncode == 0


async def test_a_restored_home_says_which_secrets_it_lacks(home, tmp_path):
    database = await Database.open(home.database)
    secrets = SecretFile(home.data / "webhook-secrets.json")
    webhooks = Webhooks(database, secrets)
    for name in ("bell", "mail"):
        made = Webhook(name=name, id=f"id-{name}", action="notify", secret="s3cret")
        await webhooks.add(made)
    await database.close()
    file = tmp_path / "home.tar.gz"
    back_up(home, file)
    assert missing_secrets(home)[:-1] == []
    secrets.remove("id-mail")
    home.config_file.unlink()
    restore(home, file)
    token, webhook, link = missing_secrets(home)
    assert token == f"Set [http] token again in {home.config_file}."
    assert "hubd webhook remove mail" in webhook
    assert "hubd home connect" in link
    save_link(home, Link(url="http://ha.local:8123", token="t"))
    assert len(missing_secrets(home)) == 2


def test_a_list_of_secrets_is_left_out_whole():
    text = (
        '[calendar]\nsources = [\n  "Family = https://x.org/s3cret[1].ics",\n'
        '  "Work = https://y.org/s3cret.ics",\n]  # both\nrefresh_minutes = 60\n'
        '[http]\ntoken = "s3cret"\nport = 1\n'
    )
    kept = _without_secrets(text)
    assert "s3cret" not in kept
    assert tomllib.loads(kept) == {"calendar": {"refresh_minutes": 60}, "http": {"port": 1}}
