"""Where the house stands: as Home Assistant told it last, or as it is set by hand."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from hubd.daemon import household_clock
from hubd.home import link
from hubd.home.household import PLACE, Household
from hubd.home.mirror import Place
from hubd.home.model import Location
from hubd.paths import Paths
from hubd.store.database import Database
from hubd.store.plugin_storage import PluginStorage

AMSTERDAM = Place(location=Location(52.37, 4.89), time_zone="Europe/Amsterdam")


@pytest.fixture
async def storage(tmp_path):
    database = await Database.open(tmp_path / "hubd.db")
    yield PluginStorage(database, "household")
    await database.close()


@pytest.fixture
def paths(tmp_path):
    return Paths(**{name: tmp_path / name for name in Paths.__struct_fields__})


async def test_it_is_known_while_home_assistant_is_away(storage, paths):
    await storage.put(PLACE, msgspec.to_builtins(AMSTERDAM))
    paths.config.mkdir()
    link.save(paths, link.Link(url="http://127.0.0.1:9", token="none"))
    async with Household(paths, storage=storage).running() as household:
        assert household.location() == AMSTERDAM.location
        now = household_clock("", household.time_zone)()
        assert now.utcoffset() in (timedelta(hours=1), timedelta(hours=2))
        assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)


async def test_what_is_set_by_hand_counts_first(storage, paths):
    await storage.put(PLACE, msgspec.to_builtins(AMSTERDAM))
    tokyo = Location(35.68, 139.69)
    async with Household(paths, storage=storage, location=tokyo).running() as household:
        assert household.location() == tokyo
        assert household_clock("Asia/Tokyo", household.time_zone)().utcoffset() == timedelta(
            hours=9
        )


async def test_it_is_known_where_home_assistant_is_linked_no_more(storage, paths):
    await storage.put(PLACE, msgspec.to_builtins(AMSTERDAM))
    async with Household(paths, storage=storage).running() as household:
        assert household.location() == AMSTERDAM.location
        assert household.time_zone() == AMSTERDAM.time_zone


async def test_it_is_known_although_it_cannot_be_kept(paths, tmp_path, caplog):
    database = await Database.open(tmp_path / "hubd.db")
    household = Household(paths, storage=PluginStorage(database, "household"))
    await database.look(lambda db: db.execute("PRAGMA query_only = ON").fetchall())
    await household._keep(AMSTERDAM)
    assert household.location() == AMSTERDAM.location
    assert "is not kept" in caplog.text
    await database.close()
