"""What the SDKs are asked, and what their answers may be: places of pools that were in the question, and amounts."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from tools_app.protocols.uniswap.paths import Hop, Path
from tools_app.protocols.uniswap.sdk.pool_states import ToldPools
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.official_sdk import OfficialSdk, SdkFallbackUnavailable

MOST_HOPS: Final = 2
MOST_CALLDATA: Final = 20_000
"""Characters of calldata; one swap has a tenth of it."""

_Amount = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,77})$")]


class RouteTold(BaseModel):
    """The pools that give most, in order, and what they give; no pools: none can take the amount."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    pools: Annotated[list[Annotated[int, Field(ge=0, le=1_000)]], Field(max_length=MOST_HOPS)]
    amount_out: _Amount


class CalldataTold(RouteTold):
    """The same with calldata of the Universal Router."""

    data: Annotated[str, Field(pattern=r"^0x([0-9a-f]{2})*$", max_length=MOST_CALLDATA)]
    value: _Amount


def ask_route(
    sdk: OfficialSdk, reader: ChainReader, told: ToldPools, *, first: str, last: str, amount: int
) -> tuple[Path, int] | None:
    """The path that the SDKs find best for an exact input, and what they say it gives; None where they find none.

    Raises SdkFallbackUnavailable.
    """
    if first not in told.tokens or last not in told.tokens:
        return None
    answer = sdk.ask("best_route", _question(reader, told, first, last, amount), RouteTold)
    return (_path_of(told, answer, first, last), int(answer.amount_out)) if answer.pools else None


def ask_calldata(
    sdk: OfficialSdk,
    reader: ChainReader,
    told: ToldPools,
    *,
    first: str,
    last: str,
    amount: int,
    recipient: str,
    slippage_bps: int,
    deadline: int,
) -> CalldataTold | None:
    """The router's calldata for the best path within one version; None where there is none.

    Raises SdkFallbackUnavailable.
    """
    if first not in told.tokens or last not in told.tokens:
        return None
    question = {
        **_question(reader, told, first, last, amount),
        "recipient": recipient,
        "slippage_bps": slippage_bps,
        "deadline": deadline,
    }
    answer = sdk.ask("calldata", question, CalldataTold)
    if not answer.pools:
        return None
    _path_of(told, answer, first, last)
    return answer


def _question(reader: ChainReader, told: ToldPools, first: str, last: str, amount: int) -> dict[str, object]:
    tokens = [{"address": each, "decimals": reader.token(each).decimals} for each in told.tokens]
    return {
        "chain_id": reader.chain_id,
        "tokens": tokens,
        "pools": list(told.told),
        "from": told.tokens.index(first),
        "to": told.tokens.index(last),
        "amount": str(amount),
    }


def _path_of(told: ToldPools, answer: RouteTold, first: str, last: str) -> Path:
    """The pools in order, each leading on. Raises SdkFallbackUnavailable."""
    hops: list[Hop] = []
    token = first
    for place in answer.pools:
        pool = told.pools[place] if place < len(told.pools) else None
        if pool is None or token not in (pool.token0, pool.token1):
            raise SdkFallbackUnavailable("the SDK names pools that do not lead from one to the other", reason="route")
        hops.append(Hop(pool, token))
        token = hops[-1].token_out
    if token != last:
        raise SdkFallbackUnavailable("the SDK names pools that do not lead from one to the other", reason="route")
    return tuple(hops)
