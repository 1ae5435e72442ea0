"""`intel_defilama_get_yields`: what pools say they yield, from one list of DefiLlama, beside what we read ourselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import Field, field_validator

from tools_app.subsystems.intel.family import intel
from tools_app.subsystems.intel.outside_figures import Shape, as_text
from tools_app.subsystems.intel.own_yields import Claim, OwnYield, read_own, unknown
from tools_app.subsystems.intel.services import YIELDS
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.outside_services import OutsideSource, Question, ask
from tools_app.toolkit.params import Limit, ListedName, UsdWhole, YieldOrder

LEAST_TVL_USD: Final = 10_000
"""Pools with less in them are not kept: most of the list, and where figures mean least."""
MOST_KEPT: Final = 5_000
_MOST_BYTES: Final = 32 * 1024 * 1024
_KEPT_SECONDS: Final = 900
_LONGEST_NAME: Final = 80
MOST_COMPARED: Final = 10
"""So many pools of an answer are read on their chain, the first ones; each costs a round trip or two."""
NOT_KNOWN: Final = (
    "rewards in other tokens are in no figure of ours",
    "the list says neither which of several places of a protocol it means, nor at which block it looked",
    f"of an answer only the first {MOST_COMPARED} pools are compared",
)


class ListedPool(Shape):
    """One pool as the list has it; its names are its makers' words."""

    chain: str
    project: str
    symbol: str
    pool: str
    tvl_usd: float = Field(alias="tvlUsd")
    apy: float | None = None
    apy_base: float | None = Field(default=None, alias="apyBase")
    apy_reward: float | None = Field(default=None, alias="apyReward")
    stablecoin: bool = False
    il_risk: str | None = Field(default=None, alias="ilRisk")
    exposure: str | None = None
    pool_meta: str | None = Field(default=None, alias="poolMeta")
    underlying_tokens: list[str | None] | None = Field(default=None, alias="underlyingTokens")

    @property
    def claim(self) -> Claim:
        """What is compared with the chain: the yield without rewards, where the list tells it apart."""
        without = self.apy_base if self.apy_base is not None or self.apy_reward else self.apy
        tokens = tuple(each or "" for each in self.underlying_tokens or ())
        return Claim(self.chain, self.project, tokens, without, is_part=bool(self.pool_meta))


class YieldList(Shape):
    """The whole list, cut to the pools that are kept, the largest first."""

    status: str
    data: list[ListedPool]

    @field_validator("data", mode="before")
    @classmethod
    def keep_the_largest(cls, rows: object) -> object:
        """Before the rest is looked at: twenty thousand rows, of which a few thousand can matter."""
        if not isinstance(rows, list):
            return rows
        with_money = [row for row in rows if isinstance(row, dict) and _read_tvl(row) >= LEAST_TVL_USD]
        return sorted(with_money, key=_read_tvl, reverse=True)[:MOST_KEPT]


@dataclass(frozen=True, slots=True)
class PoolYield:
    """One pool. Percentages a year and dollars as decimal text; `apy` is base and rewards together.

    `own` is what we read of the same protocol, chain and asset.
    """

    pool_id: ForeignText
    chain: ForeignText
    protocol: ForeignText
    symbol: ForeignText
    tvl_usd: str | None
    apy_pct: str | None
    apy_base_pct: str | None
    apy_reward_pct: str | None
    is_stable: bool
    has_il_risk: bool | None
    exposure: ForeignText
    own: OwnYield


@dataclass(frozen=True, slots=True)
class PoolYields:
    """What `intel_defilama_get_yields` answers; `total_matching` counts what fits, `pools` are the first of it.

    Pools whose figure contradicts the chain stand behind the others. `not_known` is what no comparison tells.
    """

    pools: tuple[PoolYield, ...]
    total_matching: int
    not_known: tuple[str, ...]
    source: OutsideSource


@intel.read(
    query="pool_yields",
    budget=TickBudget.SLOW,
    requires=(YIELDS.need,),
    aliases=("defilama_get_yields",),
    snippet=(
        "pool_yields: what pools on all chains say they yield a year, with what lies in them, by DefiLlama's list;"
        " filtered by chain, protocol and size, each beside what the chain itself tells."
    ),
    guidelines=(
        "A yield of a list is a claim of yesterday: quote the position itself before entering it.",
        "Where own.contradicts is true, drop the list's figure and count on own.",
    ),
)
def intel_defilama_get_yields(
    ctx: ReadContext,
    chain: ListedName | None = None,
    protocol: ListedName | None = None,
    min_tvl_usd: UsdWhole = 100_000,
    sort_by: YieldOrder = "apy",
    limit: Limit = 20,
) -> PoolYields:
    """Search DefiLlama's list of yields by chain, protocol and size, and compare it with the chain.

    Use to find where to look closer. `chain` and `protocol` are names as the list writes them, in any letters. Pools
    below 10,000 dollars are not listed. The list is asked again after 15 minutes. Where we know protocol, chain and
    asset, `own` is the yield that is read there now; a list that is further from it than stated contradicts the chain.
    Does not count rewards in other tokens in `own`, and no action may rest on the list alone.
    """
    ctx.step("Asking for the list")
    question = Question("GET", "/pools", YieldList, seconds=12.0, most_bytes=_MOST_BYTES, kept_seconds=_KEPT_SECONDS)
    answer = ask(ctx, YIELDS, question)
    found = [
        pool
        for pool in answer.value.data
        if pool.tvl_usd >= min_tvl_usd and _is_called(pool.chain, chain) and _is_called(pool.project, protocol)
    ]
    key = (lambda pool: pool.tvl_usd) if sort_by == "tvl" else (lambda pool: pool.apy or 0.0)
    found.sort(key=key, reverse=True)
    ctx.step("Reading the chain")
    told = [_tell(pool, _own(ctx, pool, place)) for place, pool in enumerate(found[:limit])]
    told.sort(key=lambda each: each.own.contradicts is True)
    return PoolYields(tuple(told), len(found), NOT_KNOWN, answer.source)


def _own(ctx: ReadContext, pool: ListedPool, place: int) -> OwnYield:
    if place >= MOST_COMPARED:
        return unknown(f"only the first {MOST_COMPARED} pools are compared; ask for fewer")
    return read_own(ctx.open_chain, pool.claim)


def _read_tvl(row: dict[str, object]) -> float:
    found = row.get("tvlUsd")
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else -1.0


def _is_called(name: str, wanted: str | None) -> bool:
    return wanted is None or name.casefold() == wanted.casefold()


def _tell(pool: ListedPool, own: OwnYield) -> PoolYield:
    return PoolYield(
        pool_id=mark_foreign(pool.pool, most=_LONGEST_NAME),
        chain=mark_foreign(pool.chain, most=_LONGEST_NAME),
        protocol=mark_foreign(pool.project, most=_LONGEST_NAME),
        symbol=mark_foreign(pool.symbol, most=_LONGEST_NAME),
        tvl_usd=as_text(pool.tvl_usd),
        apy_pct=as_text(pool.apy),
        apy_base_pct=as_text(pool.apy_base),
        apy_reward_pct=as_text(pool.apy_reward),
        is_stable=pool.stablecoin,
        has_il_risk={"yes": True, "no": False}.get(pool.il_risk or ""),
        exposure=mark_foreign(pool.exposure, most=_LONGEST_NAME),
        own=own,
    )
