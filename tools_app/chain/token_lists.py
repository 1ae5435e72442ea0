"""A published token list as registry rows: addresses, symbols, decimals; the committed tokens always come first.

A list is foreign data that set-up pinned by its hash. What does not fit is left out: another chain, an address or
symbol that is registered already, a symbol of two rows, text that is more than a name.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tools_app.chain.abi import checksum, clean_text
from tools_app.chain.lookalike_symbols import make_skeleton
from tools_app.chain.tokens import fold_symbol
from tools_app.core.bounded_parsing import read_json
from tools_app.toolkit.views import TokenMeta

logger = logging.getLogger(__name__)

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_MOST_BYTES = 64 * 1024 * 1024
_LONGEST_SYMBOL = 20
_LONGEST_NAME = 64
_LARGEST_DECIMALS = 36

_path: Path | None = None


def configure_token_list(path: Path | None) -> None:
    """Where the list lies; None or an absent file leaves the committed tokens alone. Called by wiring."""
    global _path
    _path = path
    read_list.cache_clear()
    if path is not None and not path.exists():
        logger.info("no token list at %s: only the committed tokens are registered", path)


def list_listed_tokens(chain_id: int) -> tuple[TokenMeta, ...]:
    """The list's tokens of one chain; empty without a list."""
    if _path is None or not _path.exists():
        return ()
    return read_list(_path).get(chain_id, ())


def choose_listed(own: Sequence[TokenMeta], listed: Iterable[TokenMeta]) -> tuple[TokenMeta, ...]:
    """Every listed token whose address and symbol are not in `own`; a symbol of two listed tokens names neither."""
    addresses = {token.address for token in own}
    symbols = {make_skeleton(token.symbol) for token in own}
    fresh = [token for token in listed if token.address not in addresses]
    seen = Counter(fold_symbol(token.symbol) for token in fresh)
    keys = {token.address: fold_symbol(token.symbol) for token in fresh}
    return tuple(t for t in fresh if make_skeleton(t.symbol) not in symbols and seen[keys[t.address]] == 1)


@lru_cache(maxsize=1)
def read_list(path: Path) -> dict[int, tuple[TokenMeta, ...]]:
    """The list by chain. A file that cannot be read is none, and is logged."""
    try:
        rows = read_json(path.read_bytes(), most_bytes=_MOST_BYTES)["tokens"]
        found: dict[int, dict[str, TokenMeta]] = {}
        for row in rows:
            token = _read_row(row)
            if token is not None:
                found.setdefault(token.chain_id, {}).setdefault(token.address, token)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        logger.warning("the token list at %s cannot be read: only the committed tokens are registered", path)
        return {}
    return {chain_id: tuple(tokens.values()) for chain_id, tokens in found.items()}


def _read_row(row: dict[str, Any]) -> TokenMeta | None:  # Any: a stranger's JSON
    match row:
        case {"address": address} if not _ADDRESS.fullmatch(str(address)):
            # Lists name tokens of chains that are no EVM too.
            return None
        case {"address": address, "symbol": named, "name": described, "decimals": places, "chainId": chain_id}:
            symbol, name, decimals = str(named), str(described), int(places)
        case _:
            raise ValueError("a row of it is no token")
    if symbol != clean_text(symbol, limit=_LONGEST_SYMBOL) or not symbol or not 0 <= decimals <= _LARGEST_DECIMALS:
        return None
    if any(letter.isspace() for letter in symbol):
        return None
    return TokenMeta(
        chain_id=int(chain_id),
        address=checksum(str(address)),
        symbol=symbol,
        decimals=decimals,
        name=clean_text(name, limit=_LONGEST_NAME),
        is_registered=True,
    )
