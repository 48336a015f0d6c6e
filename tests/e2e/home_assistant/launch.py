"""Run Home Assistant without its user interface: ``python launch.py FOLDER``.

Runs with Home Assistant's own Python. FOLDER holds configuration.yaml; at the first start an
administrator's long-lived token is written to FOLDER/token.
"""

import sys
from datetime import timedelta
from pathlib import Path

from homeassistant import bootstrap, runner
from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.auth.models import TOKEN_TYPE_LONG_LIVED_ACCESS_TOKEN

FOLDER = Path(sys.argv[1]).resolve()

# Only what configuration.yaml names; "frontend" would pull in a large package.
bootstrap.DEFAULT_INTEGRATIONS = {"network"}
bootstrap.CRITICAL_INTEGRATIONS = set()
original_set_up = bootstrap.async_setup_hass


async def set_up(config):
    hass = await original_set_up(config)
    file = FOLDER / "token"
    if hass and not file.exists():
        user = await hass.auth.async_create_user("hubd's tests", group_ids=[GROUP_ID_ADMIN])
        refresh = await hass.auth.async_create_refresh_token(
            user,
            client_name="hubd",
            token_type=TOKEN_TYPE_LONG_LIVED_ACCESS_TOKEN,
            access_token_expiration=timedelta(days=3650),
        )
        file.write_text(hass.auth.async_create_access_token(refresh))
    return hass


bootstrap.async_setup_hass = set_up
config = runner.RuntimeConfig(config_dir=str(FOLDER), skip_pip=True, log_no_color=True)
sys.exit(runner.run(config))
