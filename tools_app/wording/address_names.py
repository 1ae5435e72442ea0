"""Names for the addresses a page shows: registered tokens and known contracts, from files, never from the node."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tools_app.chain.deployments import Deployment, load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.tokens import TokenRegistry
from tools_app.core.units import format_units
from tools_app.standards.deadline_contract import ADDRESS as DEADLINE_CONTRACT
from tools_app.standards.safe_allowance import ADDRESS as ALLOWANCE_MODULE
from tools_app.standards.safe_allowance import CHAINS as WITH_ALLOWANCES
from tools_app.standards.safe_allowance import NAME as ALLOWANCES
from tools_app.toolkit.protocol import SHELF, SIMULATED
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.formats import format_chain

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}\b")


def find_token(chain_id: int, address: str) -> TokenMeta | None:
    """The registered token at `address`, the chain's own coin included; None when it is not registered."""
    network = KNOWN_NETWORKS.get(chain_id)
    if network is None:
        return None
    try:
        return TokenRegistry(network, load_deployment(network).tokens).by_address(address)
    except ValueError:
        return None


def list_tokens(chain_id: int) -> tuple[TokenMeta, ...]:
    """Every registered ERC-20 of a chain."""
    found = known_deployment(chain_id)
    return found.tokens if found else ()


def known_deployment(chain_id: int) -> Deployment | None:
    """What is known of a chain without asking it."""
    network = KNOWN_NETWORKS.get(chain_id)
    return load_deployment(network) if network else None


def name_address(chain_id: int, address: str) -> str:
    """A token's symbol or a contract's name; empty for an address nobody registered."""
    token = find_token(chain_id, address)
    if token is not None:
        return token.symbol
    wanted = address.lower()
    if wanted == DEADLINE_CONTRACT.lower():
        return "Deadline, which undoes all of it from its time on"
    if wanted == ALLOWANCE_MODULE.lower() and chain_id in WITH_ALLOWANCES:
        return f"{SHELF.label_on(ALLOWANCES, chain_id)}, a module of Safes"
    return next((name for known, name in _list_contracts(chain_id) if known.lower() == wanted), "")


def name_oracle(name: str) -> str:
    """An oracle by what it prices, with its address and chain: `chain:address` in words, anything else as it is."""
    chain, _, address = name.partition(":")
    if not chain.isdigit() or not _ADDRESS.fullmatch(address):
        return name
    found, where = known_deployment(int(chain)), f"{address} on {format_chain(int(chain))}"
    feeds = found.feeds.items() if found is not None else ()
    priced = sorted({token.symbol for each, feed in feeds if feed.address == address if (token := _find(found, each))})
    return f"of {' and '.join(priced)} ({where})" if priced else where


def _find(found: Deployment | None, address: str) -> TokenMeta | None:
    return next((each for each in (found.tokens if found else ()) if each.address == address), None)


def list_named(chain_id: int) -> list[tuple[str, str]]:
    """Every registered address of a chain with its name, tokens first."""
    return [(token.address, token.symbol) for token in list_tokens(chain_id)] + _list_contracts(chain_id)


def _list_contracts(chain_id: int) -> list[tuple[str, str]]:
    found = known_deployment(chain_id)
    named = [(known, _spell(name)) for name, known in found.contracts.items()] if found else []
    ours = [protocol for protocol in SHELF.on(chain_id) if protocol.is_simulated(chain_id)]
    return named + [
        (known, contract.label + (SIMULATED if any(each.owns(chain_id, known) for each in ours) else ""))
        for known, contract in SHELF.contracts_on(chain_id)
    ]


def name_addresses(text: str, chain_id: int) -> str:
    """A sentence with each address replaced by its name, or cut short when it has none."""
    return _ADDRESS.sub(lambda found: name_address(chain_id, found[0]) or f"{found[0][:6]}…{found[0][-4:]}", text)


def format_token_amount(chain_id: int, address: str, raw: int | str) -> str:
    """`1.5 USDC`, or `1500000 base units of 0x12…` for a token nobody registered."""
    token = find_token(chain_id, address)
    if token is None:
        return f"{int(raw):,} base units of {address[:8]}…"
    return format_units(int(raw), token.decimals, token.symbol)


@lru_cache(maxsize=256)
def _spell(name: str) -> str:
    """`safe_proxy_factory` -> `Safe proxy factory`."""
    words = name.split("_")
    return (
        " ".join(word.upper() if word in {"v2", "v3", "v4"} else word for word in words)
        .capitalize()
        .replace(" v", " V")
    )
