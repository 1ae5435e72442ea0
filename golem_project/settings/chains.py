"""Which chains this server reaches. GOLEM_RPC_URL_<chain id> holds one or more URLs, separated by commas."""

from __future__ import annotations

import os

from golem_project.settings.environment import read_integer

_PREFIX = "GOLEM_RPC_URL_"

GOLEM_RPC_URLS: dict[int, tuple[str, ...]] = {
    int(name.removeprefix(_PREFIX)): tuple(url.strip() for url in value.split(",") if url.strip())
    for name, value in os.environ.items()
    if name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isdigit() and value.strip()
}
GOLEM_DEFAULT_CHAIN_ID = read_integer("GOLEM_DEFAULT_CHAIN_ID", 31337)
GOLEM_FEED_MAX_AGE_SECONDS = read_integer("GOLEM_FEED_MAX_AGE_SECONDS", 3_600)  # Chainlink's usual heartbeat
