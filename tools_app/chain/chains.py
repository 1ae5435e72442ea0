"""The doors into this package: `configure_chains` once from wiring, then `open_reader`, `get_pool`, `get_registry`.

Its other end is `permits_app/execution/`, which alone builds pools that may send.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tools_app.chain import networks
from tools_app.chain.deployments import Deployment, load_deployment
from tools_app.chain.feeds import DEFAULT_MAX_AGE_SECONDS
from tools_app.chain.networks import Network
from tools_app.chain.reader import PinnedReader
from tools_app.chain.rpc import RpcLimits
from tools_app.chain.rpc_pool import PoolRules, RpcPool
from tools_app.chain.token_lists import choose_listed, list_listed_tokens
from tools_app.chain.tokens import TokenRegistry
from tools_app.core.clock import Deadline
from tools_app.toolkit.views import BlockRef


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """What settings decide about reading. `max_head_age_seconds` spares private chains, which mine on demand."""

    max_price_age_seconds: int = DEFAULT_MAX_AGE_SECONDS
    max_head_age_seconds: int = 600
    limits: RpcLimits = RpcLimits()
    rules: PoolRules = PoolRules()


_settings = ChainSettings()
_pools: dict[int, RpcPool] = {}
_registries: dict[int, tuple[Deployment, TokenRegistry]] = {}
_lock = threading.Lock()


def configure_chains(
    configured: Iterable[Network],
    settings: ChainSettings | None = None,
    *,
    begun_later: Mapping[int, Path] | None = None,
) -> None:
    """Set chains and their limits for this process; open pools are dropped. Called by wiring."""
    global _settings
    with _lock:
        networks.configure(configured, begun_later=begun_later)
        _settings = settings or ChainSettings()
        _pools.clear()
        _registries.clear()


def open_reader(chain_id: int, *, now: datetime, deadline: Deadline, block: BlockRef | None = None) -> PinnedReader:
    """A reader of `chain_id`, pinned to `block` or to the head when it is first used. Raises ChainNotSupported."""
    network = networks.get_network(chain_id)
    deployment, registry = _get_known(network)
    return PinnedReader(
        network=network,
        pool=get_pool(chain_id),
        deployment=deployment,
        registry=registry,
        deadline=deadline,
        now=now,
        block=block,
        max_price_age_seconds=_settings.max_price_age_seconds,
        max_head_age_seconds=None if network.is_dev else _settings.max_head_age_seconds,
    )


def get_pool(chain_id: int) -> RpcPool:
    """The pool that reads `chain_id`. Raises ChainNotSupported."""
    network = networks.get_network(chain_id)
    pool = _pools.get(chain_id)
    if pool is None:
        with _lock:
            pool = _pools.setdefault(
                chain_id, RpcPool.of_network(network, limits=_settings.limits, rules=_settings.rules)
            )
    return pool


def get_registry(chain_id: int) -> TokenRegistry:
    """The registered tokens of `chain_id`. Raises ChainNotSupported."""
    return _get_known(networks.get_network(chain_id))[1]


def get_deployment(chain_id: int) -> Deployment:
    """Named contracts, tokens and feeds of `chain_id`. Raises ChainNotSupported."""
    return _get_known(networks.get_network(chain_id))[0]


def _get_known(network: Network) -> tuple[Deployment, TokenRegistry]:
    deployment = load_deployment(network)
    known = _registries.get(network.chain_id)
    if known is None or known[0] is not deployment:
        listed = choose_listed(deployment.tokens, list_listed_tokens(network.chain_id))
        known = (deployment, TokenRegistry(network, deployment.tokens, listed=listed))
        _registries[network.chain_id] = known
    return known
