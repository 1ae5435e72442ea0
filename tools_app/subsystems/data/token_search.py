"""`data_search_tokens`: tokens of one chain by a part of their symbol or name, or by their address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from tools_app.chain.abi import clean_text
from tools_app.chain.token_lists import choose_listed, list_listed_tokens
from tools_app.chain.tokens import TokenNotFound, fold_symbol
from tools_app.core.errors import InvalidParams
from tools_app.subsystems.data.family import data
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.params import PLAIN, Limit, check_address
from tools_app.toolkit.views import TokenMeta

LONGEST_WORDS: Final = 64

SearchedText = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_WORDS, description="Part of a symbol or name, or an address."),
    PLAIN,
]


@dataclass(frozen=True, slots=True)
class TokenFound:
    """One token. `source` is committed (this server's own), listed (a published list) or contract (its own word)."""

    token: TokenMeta
    source: str


@dataclass(frozen=True, slots=True)
class TokensFound:
    """What `data_search_tokens` answers, best first; `left_out` is how many more fit."""

    chain: int
    tokens: tuple[TokenFound, ...]
    left_out: int


@data.read(
    budget=TickBudget.FAST,
    aliases=("search_tokens",),
    snippet="search_tokens: which tokens of a chain are called so, by a part of symbol or name; only known ones.",
    guidelines=("A symbol is no proof: take the address of the token that is meant, and look at its source.",),
)
def data_search_tokens(ctx: ReadContext, text: SearchedText, limit: Limit = 10) -> TokensFound:
    """Find tokens of a chain by a part of their symbol or name, or by their address.

    Use to learn the address behind a name before quoting it. Known are the tokens of this server and those of the
    published list of set-up; an address that is in neither is asked of its contract.
    Does not find tokens that only pools know, and does not say that a token is safe.
    """
    reader = ctx.begin("Looking through tokens")
    address = _address_in(text)
    if address is not None:
        return TokensFound(reader.chain_id, (_find_by_address(reader, address),), 0)
    own = (reader.native(), *reader.registered_tokens())
    known = [TokenFound(token, "committed") for token in own]
    known += [TokenFound(token, "listed") for token in choose_listed(own, list_listed_tokens(reader.chain_id))]
    wanted = fold_symbol(text)
    ranked = [(rank, each) for each in known if wanted and (rank := _rank(wanted, each.token)) is not None]
    if not ranked:
        shown = clean_text(text, limit=LONGEST_WORDS)
        raise TokenNotFound(
            f"no known token of chain {reader.chain_id} is called like {shown!r}; name its address",
            chain_id=reader.chain_id,
            registered=[token.symbol for token in own],
        )
    ranked.sort(key=lambda pair: (pair[0], pair[1].source, pair[1].token.symbol, pair[1].token.address))
    found = tuple(each for _, each in ranked)
    return TokensFound(reader.chain_id, found[:limit], max(0, len(found) - limit))


def _find_by_address(reader: ChainReader, address: str) -> TokenFound:
    token = reader.token(address)
    if not token.is_registered:
        return TokenFound(token, "contract")
    own = {each.address for each in (reader.native(), *reader.registered_tokens())}
    return TokenFound(token, "committed" if token.address in own else "listed")


def _address_in(text: str) -> str | None:
    if not text.lower().startswith("0x"):
        return None
    try:
        return check_address(text)
    except ValueError as error:
        raise InvalidParams(f"text: {error}", fields={"text": str(error)}) from None


def _rank(wanted: str, token: TokenMeta) -> int | None:
    """0 is its symbol, then how it begins, then what is in it, then its name; None does not fit."""
    symbol = fold_symbol(token.symbol)
    fits = (symbol == wanted, symbol.startswith(wanted), wanted in symbol, wanted in fold_symbol(token.name))
    return next((rank for rank, fit in enumerate(fits) if fit), None)
