"""The chains this product knows, and which of them this process was given a node for.

Wiring calls `configure` once with the table it built from settings; until then no chain is usable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tools_app.core.errors import GolemError, Recovery
from tools_app.core.taint import Secret, TaintLabel

MULTICALL3: Final = "0xcA11bde05977b3631167028862bE2a173976CA11"
"""One address on every chain that has it, because its deployment transaction is the same everywhere."""


class ChainNotSupported(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="That chain is not supported here"):
    """The chain is unknown, or no node is configured for it."""


@dataclass(frozen=True, slots=True)
class Network:
    """One chain. `rpc_urls` are secrets, since urls carry api keys; `block_seconds` is the usual time between blocks.

    `confirmations` is how many blocks make a transaction final enough for us; `explorer_tx_url` holds `{tx_hash}`.
    `is_dev` marks a private chain whose state can be changed without a block; one that is `twin_of` another began with
    the same contracts at the same addresses.
    """

    chain_id: int
    name: str
    slug: str
    native_symbol: str
    confirmations: int
    block_seconds: int
    native_name: str = ""
    native_decimals: int = 18
    explorer_tx_url: str = ""
    is_dev: bool = False
    max_log_range: int = 2_000
    twin_of: int | None = None
    rpc_urls: tuple[Secret, ...] = field(default=(), repr=False)

    @property
    def is_configured(self) -> bool:
        return bool(self.rpc_urls)


def _scan(host: str) -> str:
    return f"https://{host}/tx/{{tx_hash}}"


KNOWN_NETWORKS: Final[dict[int, Network]] = {
    network.chain_id: network
    for network in (
        Network(1, "Ethereum", "ethereum", "ETH", 2, 12, "Ether", explorer_tx_url=_scan("etherscan.io")),
        Network(10, "OP Mainnet", "optimism", "ETH", 2, 2, "Ether", explorer_tx_url=_scan("optimistic.etherscan.io")),
        Network(56, "BNB Smart Chain", "bsc", "BNB", 5, 1, "BNB", explorer_tx_url=_scan("bscscan.com")),
        Network(130, "Unichain", "unichain", "ETH", 2, 1, "Ether", explorer_tx_url=_scan("uniscan.xyz")),
        Network(137, "Polygon", "polygon", "POL", 32, 2, "POL", explorer_tx_url=_scan("polygonscan.com")),
        Network(324, "ZKsync Era", "zksync", "ETH", 2, 1, "Ether", explorer_tx_url=_scan("explorer.zksync.io")),
        Network(8453, "Base", "base", "ETH", 2, 2, "Ether", explorer_tx_url=_scan("basescan.org")),
        Network(42161, "Arbitrum One", "arbitrum", "ETH", 2, 1, "Ether", explorer_tx_url=_scan("arbiscan.io")),
        Network(42220, "Celo", "celo", "CELO", 2, 1, "Celo", explorer_tx_url=_scan("celoscan.io")),
        Network(43114, "Avalanche C-Chain", "avalanche", "AVAX", 2, 2, "AVAX", explorer_tx_url=_scan("snowtrace.io")),
        Network(81457, "Blast", "blast", "ETH", 2, 2, "Ether", explorer_tx_url=_scan("blastscan.io")),
        Network(31337, "Local chain", "local", "ETH", 1, 1, "Ether", is_dev=True, max_log_range=1_000_000),
        Network(
            31338,
            "Second local chain",
            "local-2",
            "ETH",
            1,
            1,
            "Ether",
            is_dev=True,
            max_log_range=1_000_000,
            twin_of=31337,
        ),
    )
}

_configured: dict[int, Network] = {}
# Chains that are begun once somebody uses them: the file that holds the node's URL from then on.
_begun_later: dict[int, Path] = {}


def with_rpc_urls(network: Network, urls: Iterable[str], **overrides: object) -> Network:
    """`network` with nodes, best first, and any other field replaced."""
    secrets = tuple(Secret(url, TaintLabel.OWNER_SECRET) for url in urls)
    return replace(network, rpc_urls=secrets, **overrides)  # type: ignore[arg-type]


def configure(networks: Iterable[Network], *, begun_later: Mapping[int, Path] | None = None) -> None:
    """Set the chains of this process, replacing what was set before. Called by wiring.

    `begun_later` are chains that have no node yet: each is configured as soon as its file names one.
    """
    table = {network.chain_id: network for network in networks if network.is_configured}
    _configured.clear()
    _configured.update(table)
    _begun_later.clear()
    _begun_later.update({chain_id: file for chain_id, file in (begun_later or {}).items() if chain_id not in table})


def configured_networks() -> tuple[Network, ...]:
    """Every chain with a node, by id."""
    _look_for_begun()
    return tuple(_configured[chain_id] for chain_id in sorted(_configured))


def list_begun_later() -> tuple[Network, ...]:
    """Every chain that has no node yet and is begun once a golem uses it."""
    _look_for_begun()
    return tuple(KNOWN_NETWORKS[chain_id] for chain_id in sorted(_begun_later))


def is_configured(chain_id: int) -> bool:
    """Whether there is a node for it."""
    _look_for_begun()
    return chain_id in _configured


def _look_for_begun() -> None:
    """Configure the chains whose files name a node by now."""
    for chain_id, file in list(_begun_later.items()):
        # Asked several times in every decision: whether there is a file costs two microseconds, through pathlib ten.
        if os.path.exists(file):
            _configured[chain_id] = with_rpc_urls(KNOWN_NETWORKS[chain_id], [file.read_text().strip()])
            _begun_later.pop(chain_id, None)


def get_network(chain_id: int) -> Network:
    """The configured network. Raises ChainNotSupported, naming those that are."""
    if chain_id in _begun_later:
        _look_for_begun()
    network = _configured.get(chain_id)
    if network is None:
        known = KNOWN_NETWORKS.get(chain_id)
        reason = f"no node is configured for {known.name}" if known else f"chain {chain_id} is unknown"
        if chain_id in _begun_later and known:
            reason = f"{known.name.lower()} is begun once a golem has it among its chains; it does not run yet"
        raise ChainNotSupported(
            f"{reason[0].upper()}{reason[1:]}; configured: {sorted(_configured) or 'none'}",
            chain_id=chain_id,
            configured_chain_ids=sorted(_configured),
        )
    return network
