"""Measures one account on one chain or on all of them: the ground on which the board's figures stand.

What cannot be read is said and never taken for nothing: a chain that does not answer makes every total unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tools_app.chain.networks import configured_networks
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import HeldPosition, Holdings, Worth, measure_holdings
from tools_app.portfolio.pegs import OffPeg, by_reader, find_off_peg, list_pegs
from tools_app.portfolio.position_search import list_gaps
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.standards.format_loan_figures import show_health
from tools_app.subsystems.safety.family import choose_account
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.lending import risk_level
from tools_app.toolkit.protocol import SHELF, SIMULATED
from tools_app.toolkit.result import UsdAmount


@dataclass(frozen=True, slots=True)
class OnChain:
    """What the account has on one chain at one block."""

    reader: ChainReader
    holdings: Holdings
    gaps: tuple[str, ...]
    off_peg: tuple[OffPeg, ...] = ()

    @property
    def chain_id(self) -> int:
        """Which chain."""
        return self.reader.chain_id

    @property
    def now(self) -> int:
        """Unix seconds of the block."""
        return self.reader.block.timestamp


@dataclass(frozen=True, slots=True)
class MeasuredAccount:
    """An account on the chains that were asked. `unread` names chains that did not answer, `CODE: chain 8453`."""

    account: str
    chains: tuple[OnChain, ...]
    unread: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether every chain that was asked has answered."""
        return not self.unread

    @property
    def not_counted(self) -> tuple[str, ...]:
        """Everything that the figures leave out, by name."""
        return (*self.unread, *(text for each in self.chains for text in (*each.holdings.problems, *each.gaps)))

    @property
    def net_micro_usd(self) -> int:
        """What is held less what is owed, as far as it has a price."""
        return sum(each.holdings.nav_micro_usd for each in self.chains)

    @property
    def debt_micro_usd(self) -> int:
        """What is owed, as far as it has a price."""
        return sum(each.holdings.debt_micro_usd for each in self.chains)

    @property
    def collateral_micro_usd(self) -> int:
        """What covers debts: the legs that count against them, of positions that owe something."""
        return sum(sum_cover(held) for _, held in self.list_positions() if held.position.has_debt)

    @property
    def liquid_micro_usd(self) -> int:
        """The part of the net worth that can be had now."""
        return sum(each.holdings.liquid_micro_usd(each.now) for each in self.chains)

    @property
    def worst_health_bps(self) -> int | None:
        """The lowest health of any position; None where nothing is owed."""
        return min((held.health_bps for _, held in self.list_positions() if held.health_bps is not None), default=None)

    @property
    def off_peg(self) -> tuple[OffPeg, ...]:
        """Tokens that are held or owed, or that the owner declares, and that left what they stand for."""
        return tuple(off for each in self.chains for off in each.off_peg)

    def list_positions(self) -> Iterator[tuple[OnChain, HeldPosition]]:
        """Every position with the chain it is on."""
        for each in self.chains:
            for held in each.holdings.positions:
                yield each, held

    def list_parts(self) -> Iterator[tuple[OnChain, Worth]]:
        """Everything that has a worth of its own: tokens in the wallet and legs of positions."""
        for each in self.chains:
            for part in each.holdings.list_parts():
                yield each, part

    def total(self, micro: int) -> UsdAmount | None:
        """A sum over all chains; None where one of them did not answer."""
        return UsdAmount(micro) if self.is_known else None


def measure_account(ctx: ReadContext, account: str | None, chain_id: int | None) -> MeasuredAccount:
    """Measure an account on one chain, the home chain where none is named, or on all with 0.

    Raises what the one chain that was named raises. Of all chains, one that does not answer is told as unread.
    """
    chosen = choose_account(ctx, account)
    if chain_id != 0:
        return MeasuredAccount(chosen, (_measure(ctx, ctx.chain(chain_id), chosen),))
    found: list[OnChain] = []
    unread: list[str] = []
    for network in configured_networks():
        try:
            found.append(_measure(ctx, ctx.chain(network.chain_id), chosen))
        except GolemError as error:
            unread.append(f"{error.code}: chain {network.chain_id}")
    return MeasuredAccount(chosen, tuple(found), tuple(unread))


def _measure(ctx: ReadContext, reader: ChainReader, account: str) -> OnChain:
    hints = list_hints(chain_id=reader.chain_id, account=account)
    holdings = measure_holdings(chain=reader, account=account, hints=hints)
    gaps = list_gaps(chain_id=reader.chain_id, account=account)
    return OnChain(reader, holdings, gaps, _find_off_peg(ctx, reader, holdings))


def _find_off_peg(ctx: ReadContext, reader: ChainReader, holdings: Holdings) -> tuple[OffPeg, ...]:
    held = {part.token.address for part in holdings.list_parts() if part.raw}
    known, pegs = list_pegs(reader.chain_id), list_pegs(reader.chain_id, ctx.golem.id)
    declared = {address for address, peg in pegs.items() if known.get(address) != peg}
    looked_at = (peg for peg in pegs.values() if peg.token in held | declared)
    return find_off_peg(looked_at, by_reader(reader, with_pools=declared))


def sum_cover(held: HeldPosition) -> int:
    """Micro-USD of the legs that cover debts, as far as they have a price."""
    pairs = zip(held.position.legs, held.parts, strict=True)
    return sum(part.micro_usd or 0 for leg, part in pairs if leg.raw > 0 and leg.cover_bps)


def sum_held(held: HeldPosition) -> int:
    """Micro-USD of all that is held in a position, as far as it has a price."""
    return sum(part.micro_usd or 0 for part in held.parts if part.raw > 0)


def judge_overall(measured: MeasuredAccount) -> str:
    """Safe, Warning or Danger: the word of the worst health. What is not whole, or left its peg, is never Safe."""
    level = risk_level(measured.worst_health_bps)
    if level == "danger":
        return "Danger"
    return "Warning" if level == "warning" or measured.not_counted or measured.off_peg else "Safe"


def may_fall_bps(health_bps: int) -> int:
    """By how much cover may fall, while the debt stands, until it is liquidated: basis points, rounded down; 0 where it
    is now.
    """
    return 0 if health_bps <= 10_000 else 10_000 + -100_000_000 // health_bps


def describe_health(bps: int | None) -> str | None:
    """`15234` -> `1.52`; None without debt."""
    return None if bps is None else show_health(bps)


def show_percent(bps: int) -> str:
    """`3421` -> `34.21`."""
    sign, size = ("-", -bps) if bps < 0 else ("", bps)
    return f"{sign}{size // 100}.{size % 100:02d}"


def name_position(held: HeldPosition) -> str:
    """Its label for people, which says where a contract of ours stands in."""
    return f"{held.position.label}{SIMULATED}" if is_simulated(held) else held.position.label


def is_simulated(held: HeldPosition) -> bool:
    """Whether a contract of ours stands in for the protocol there."""
    return SHELF.is_simulated(held.ref.protocol, held.ref.chain_id)
