"""Sets the chains this server reaches. GOLEM_RPC_URL_<chain id> holds one or more URLs, separated by commas."""

from __future__ import annotations

import os
from pathlib import Path

from golem_project.settings.environment import read_integer, read_text

_PREFIX = "GOLEM_RPC_URL_"

GOLEM_RPC_URLS: dict[int, tuple[str, ...]] = {
    int(name.removeprefix(_PREFIX)): tuple(url.strip() for url in value.split(",") if url.strip())
    for name, value in os.environ.items()
    if name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isdigit() and value.strip()
}
# The supervisor begins the second local chain once a golem uses it, and then writes its URL into this file.
_second_chain_file = read_text("GOLEM_SECOND_CHAIN_FILE")
GOLEM_CHAINS_BEGUN_LATER: dict[int, Path] = {31338: Path(_second_chain_file)} if _second_chain_file else {}
GOLEM_DEFAULT_CHAIN_ID = read_integer("GOLEM_DEFAULT_CHAIN_ID", 31337)
GOLEM_FEED_MAX_AGE_SECONDS = read_integer("GOLEM_FEED_MAX_AGE_SECONDS", 3_600)  # Chainlink's usual heartbeat
