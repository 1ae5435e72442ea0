"""Loads what is known of a chain from files: named contracts, registered tokens, price feeds.

`deployments/<chain_id>.json` holds it for chains that set-up prepared, `public_tokens.py` for the rest.
A file that changes is read again, so a rebuilt local world needs no restart.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.chain.networks import Network
from tools_app.chain.public_issuers import PUBLIC_BRIDGES, PUBLIC_ISSUERS
from tools_app.chain.public_tokens import PUBLIC_FEEDS, PUBLIC_SEQUENCER_FEEDS, PUBLIC_TOKENS
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.views import NATIVE, TokenMeta

DEPLOYMENTS_FOLDER: Final = Path(__file__).with_name("deployments")
# A round is due after the feed's heartbeat and mined some blocks later.
_ROUND_SLACK_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class Feed:
    """A USD price feed. `max_age_seconds` None means the bound of the settings; `decimals` None means ask it."""

    address: str
    decimals: int | None = None
    max_age_seconds: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Deployment:
    """Contracts by name, tokens in registry order, feeds by token address (the coin's under NATIVE), checksummed.

    `sequencer_feed` says since when a rollup's sequencer has been up. `issuers` and `bridges` name, by token address,
    who stands behind a token and over which bridge it came; a token without either is left out.

    One value for each version of a file, and equal to no other: what is made of it may be kept by it.
    """

    chain_id: int
    contracts: Mapping[str, str] = field(default_factory=dict)
    tokens: tuple[TokenMeta, ...] = ()
    feeds: Mapping[str, Feed] = field(default_factory=dict)
    wrapped_native: str | None = None
    sequencer_feed: str | None = None
    issuers: Mapping[str, str] = field(default_factory=dict)
    bridges: Mapping[str, str] = field(default_factory=dict)


def load_deployment(network: Network, *, folder: Path = DEPLOYMENTS_FOLDER) -> Deployment:
    """What is known of `network`'s chain; empty when nothing is. Raises ValueError when its file is malformed."""
    path = f"{folder}/{network.twin_of or network.chain_id}.json"
    try:
        # Asked several times in every decision; through pathlib it takes five times as long.
        written_at_ns = os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return _public_deployment(network.chain_id, network.native_symbol)
    return _read_file(path, written_at_ns, network.twin_of or network.chain_id, network.chain_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FeedRow:
    feed: str = ""
    feed_decimals: int | None = None
    feed_max_age_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TokenRow(_FeedRow):
    address: str
    symbol: str
    decimals: int
    name: str | None = None
    simulated: bool = False
    traits: tuple[str, ...] = ()
    issuer: str = ""
    bridge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _DeploymentFile:
    """What a file of ours says of a chain."""

    chain_id: object = None
    contracts: Mapping[str, str] = field(default_factory=dict)
    tokens: tuple[_TokenRow, ...] = ()
    native: _FeedRow = _FeedRow()
    sequencer_feed: str | None = None


@lru_cache(maxsize=64)
def _read_file(where: str, written_at_ns: int, described: int, chain_id: int) -> Deployment:
    path = Path(where)
    content = read_stored(_DeploymentFile, json.loads(path.read_text()))
    if content.chain_id != described:
        raise ValueError(f"{path.name} describes chain {content.chain_id!r}")
    contracts = {name: checksum(address) for name, address in content.contracts.items()}
    rows = content.tokens
    feeds = {checksum(row.address): _feed(row) for row in rows if row.feed}
    if content.native.feed:
        feeds[NATIVE] = _feed(content.native)
    tokens = tuple(_token(chain_id, row) for row in rows)
    symbols = [token.symbol.casefold() for token in tokens]
    if len(set(symbols)) != len(symbols):
        raise ValueError(f"{path.name} registers a symbol twice")
    wrapped = contracts.get("weth9") or contracts.get("wrapped_native")
    sequencer, pairs = content.sequencer_feed, list(zip(tokens, rows, strict=True))
    issuers = {token.address: name for token, row in pairs if (name := row.issuer or _find_issuer(token))}
    bridges = {token.address: name for token, row in pairs if (name := row.bridge or _find_bridge(token))}
    sequencer_feed = checksum(sequencer) if sequencer else None
    return Deployment(chain_id, contracts, tokens, feeds, wrapped, sequencer_feed, issuers, bridges)


def _find_issuer(token: TokenMeta) -> str:
    return PUBLIC_ISSUERS.get(token.symbol, "")


def _find_bridge(token: TokenMeta) -> str:
    return PUBLIC_BRIDGES.get((token.chain_id, token.symbol), "")


def _token(chain_id: int, row: _TokenRow) -> TokenMeta:
    return TokenMeta(
        chain_id=chain_id,
        address=checksum(row.address),
        symbol=row.symbol,
        decimals=row.decimals,
        name=row.symbol if row.name is None else row.name,
        is_registered=True,
        is_simulated=row.simulated,
        has_transfer_fee="fee_on_transfer" in row.traits,
    )


def _feed(row: _FeedRow) -> Feed:
    return Feed(address=checksum(row.feed), decimals=row.feed_decimals, max_age_seconds=row.feed_max_age_seconds)


@lru_cache(maxsize=64)
def _public_deployment(chain_id: int, native_symbol: str) -> Deployment:
    rows = PUBLIC_TOKENS.get(chain_id, ())
    tokens = tuple(
        TokenMeta(chain_id, checksum(address), symbol, decimals, name, is_registered=True)
        for symbol, address, decimals, name in rows
    )
    by_symbol = PUBLIC_FEEDS.get(chain_id, {})
    keys = {native_symbol: NATIVE, **{token.symbol: token.address for token in tokens}}
    feeds = {
        keys[symbol]: Feed(checksum(address), max_age_seconds=heartbeat + _ROUND_SLACK_SECONDS)
        for symbol, (address, heartbeat) in by_symbol.items()
    }
    wrapped = tokens[0].address if tokens else None
    issuers = {token.address: name for token in tokens if (name := _find_issuer(token))}
    bridges = {token.address: name for token in tokens if (name := _find_bridge(token))}
    return Deployment(
        chain_id, {}, tokens, feeds, wrapped, PUBLIC_SEQUENCER_FEEDS.get(chain_id), issuers=issuers, bridges=bridges
    )
