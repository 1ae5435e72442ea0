"""Sets the chains this server reaches. GOLEM_RPC_URL_<chain id> holds one or more URLs, separated by commas, and
GOLEM_RPC_URL_<chain id>_FILE names a file that does: what nodes are paid by mostly stands in their addresses.
"""

from __future__ import annotations

import os
from pathlib import Path

from golem_project.settings.environment import read_integer, read_optional_secret, read_text

_PREFIX = "GOLEM_RPC_URL_"

_numbers = {name.removeprefix(_PREFIX).removesuffix("_FILE") for name in os.environ if name.startswith(_PREFIX)}
_values = {int(each): read_optional_secret(f"{_PREFIX}{each}").strip() for each in _numbers if each.isdigit()}
GOLEM_RPC_URLS: dict[int, tuple[str, ...]] = {
    chain_id: tuple(url.strip() for url in value.split(",") if url.strip())
    for chain_id, value in _values.items()
    if value
}
# The supervisor begins the second local chain once a golem uses it, and then writes its URL into this file.
_second_chain_file = read_text("GOLEM_SECOND_CHAIN_FILE")
GOLEM_CHAINS_BEGUN_LATER: dict[int, Path] = {31338: Path(_second_chain_file)} if _second_chain_file else {}
GOLEM_DEFAULT_CHAIN_ID = read_integer("GOLEM_DEFAULT_CHAIN_ID", 31337)
GOLEM_FEED_MAX_AGE_SECONDS = read_integer("GOLEM_FEED_MAX_AGE_SECONDS", 3_600)  # Chainlink's usual heartbeat
