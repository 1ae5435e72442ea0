"""Tokens by symbol or address: the registry first, then the token's own contract.

What a contract says of itself is foreign data: capped, freed of control characters, marked unregistered; one that
calls itself like a registered token, at another address, carries that in its symbol.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import Final

from tools_app.chain.abi import checksum, clean_text
from tools_app.chain.lookalike_symbols import make_skeleton
from tools_app.chain.networks import Network
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.views import NATIVE, TokenMeta

_SYMBOL_LENGTH: Final = 24
_NAME_LENGTH: Final = 64
_LARGEST_DECIMALS: Final = 36
UNREGISTERED_MARK: Final = " (not the registered one)"
# Cyrillic and Greek letters that look like Latin ones, after case folding: an agent who types one means the token.
_LOOKALIKES: Final = str.maketrans("авекмнорстухіѕјԁαβεζηικμνορτυχ", "abekmhopctyxisjdabezhikmnoptyx")


class TokenNotFound(
    GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="That token is not known on this chain"
):
    """No such token: unknown symbol, or an address that is no ERC-20."""


class TokenRegistry:
    """The tokens of one chain that we vouch for, by symbol and by address."""

    def __init__(self, network: Network, tokens: Sequence[TokenMeta], *, listed: Sequence[TokenMeta] = ()) -> None:
        """`tokens` are the chain's own few, read for balances; `listed` are known besides, and named when asked for."""
        self._chain_id = network.chain_id
        self.native = TokenMeta(
            chain_id=network.chain_id,
            address=NATIVE,
            symbol=network.native_symbol,
            decimals=network.native_decimals,
            name=network.native_name or network.native_symbol,
            is_registered=True,
        )
        self.tokens = tuple(tokens)
        self._by_address = {token.address: token for token in (*listed, *self.tokens, self.native)}
        self._by_symbol = {fold_symbol(t.symbol): t for t in (*listed, *self.tokens, self.native)}

    def by_address(self, address: str) -> TokenMeta | None:
        """The registered token at `address`, in any case."""
        return self._by_address.get(checksum(address))

    def by_symbol(self, symbol: str) -> TokenMeta:
        """The registered token called `symbol`. Raises TokenNotFound with symbols that look alike."""
        found = self._by_symbol.get(fold_symbol(symbol))
        if found is None:
            known = {key: token.symbol for key, token in self._by_symbol.items()}
            near = [known[key] for key in get_close_matches(fold_symbol(symbol), known, n=3, cutoff=0.5)]
            shown = clean_text(symbol, limit=_SYMBOL_LENGTH)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise TokenNotFound(
                f"No token {shown!r} is registered on chain {self._chain_id}{hint}",
                chain_id=self._chain_id,
                near_matches=near,
                registered=[token.symbol for token in self.tokens],
            )
        return found

    def describe(self, address: str, *, symbol: bytes | None, name: bytes | None, decimals: int | None) -> TokenMeta:
        """A token from what its contract answered. Raises TokenNotFound when that is no ERC-20."""
        if decimals is None or decimals > _LARGEST_DECIMALS:
            raise TokenNotFound(
                f"{address} does not answer like an ERC-20 token", chain_id=self._chain_id, address=address
            )
        shown = _text_of(symbol, _SYMBOL_LENGTH)
        token = TokenMeta(
            chain_id=self._chain_id,
            address=checksum(address),
            symbol=shown,
            decimals=decimals,
            name=_text_of(name, _NAME_LENGTH),
            is_registered=False,
        )
        return replace(token, symbol=shown + UNREGISTERED_MARK) if self.is_impostor(shown) else token

    def is_impostor(self, symbol: str) -> bool:
        """Whether an unregistered token with this symbol would pass for a registered one."""
        return make_skeleton(symbol) in self._skeletons

    @cached_property
    def _skeletons(self) -> frozenset[str]:
        return frozenset(make_skeleton(token.symbol) for token in self._by_address.values())


@lru_cache(maxsize=4_096)
def fold_symbol(symbol: str) -> str:
    """A symbol as it is looked up: case and invisible characters dropped, letters of other alphabets made Latin."""
    return clean_text(unicodedata.normalize("NFKC", symbol)).casefold().translate(_LOOKALIKES)


def _text_of(data: bytes | None, limit: int) -> str:
    """Text of a `string` or `bytes32` answer; foreign, so nothing is assumed of it."""
    if not data:
        return ""
    if len(data) == 32:
        raw = data.rstrip(b"\0")
    else:
        length = int.from_bytes(data[32:64], "big")
        raw = data[64 : 64 + min(length, 4 * limit)]
    return clean_text(raw.decode("utf-8", "replace"), limit=limit)
