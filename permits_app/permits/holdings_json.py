"""Makes what snapshots keep and pages show of a golem's measured holdings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from permits_app.permits.asset_shares_json import tell_shares
from permits_app.permits.kept_holdings import KeptHoldings, KeptLock, KeptPosition, KeptTime, KeptToken
from permits_app.permits.position_range_chart import tell_range
from tools_app.core.stored_json import write_stored
from tools_app.core.units import format_units
from tools_app.portfolio.holdings import HeldPosition, Holdings, Worth
from tools_app.toolkit.positions import LOCKED_WORDS, WHEN_REPAID
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.valuation_rules import UNCOUNTED_WORDS

CLAIM_NOTE = "counted as a position"
NO_PRICE_NOTE = "not counted: no usable price"


def tell_holdings(held: Holdings, *, now: datetime) -> dict[str, object]:
    """The same as `sum_up_holdings`, as a snapshot's column keeps it."""
    return write_stored(sum_up_holdings(held, now=now))


def sum_up_holdings(held: Holdings, *, now: datetime) -> KeptHoldings:
    """Tokens, positions and what is not counted. `liquid` is what did not wait at `now`."""
    return KeptHoldings(
        tokens=(
            *(_tell_token(each, NO_PRICE_NOTE if each.problem else "") for each in held.tokens),
            *(replace(_tell_token(each, CLAIM_NOTE), micro_usd=None) for each in held.claims),
        ),
        positions=tuple(_tell_position(each) for each in held.positions),
        value=held.nav_micro_usd,
        debt=held.debt_micro_usd,
        liquid=held.liquid_micro_usd(int(now.timestamp())),
        problems=tuple(held.problems),
        shares=tuple(tell_shares(held)),
    )


def _tell_token(held: Worth, note: str) -> KeptToken:
    return KeptToken(
        symbol=held.token.symbol,
        units=format_units(held.raw, held.token.decimals),
        micro_usd=held.micro_usd,
        note=note,
        is_simulated=held.token.is_simulated,
    )


def _tell_position(held: HeldPosition) -> KeptPosition:
    protocol = SHELF.get(held.ref.protocol)
    return KeptPosition(
        ref=str(held.ref),
        label=held.position.label,
        protocol=protocol.label if protocol is not None else held.ref.protocol,
        is_simulated=SHELF.is_simulated(held.ref.protocol, held.ref.chain_id),
        holds=tuple(_units(part) for part in held.parts if part.raw > 0),
        owes=tuple(_units(part) for part in held.parts if part.raw < 0),
        micro_usd=held.micro_usd,
        debt=held.debt_micro_usd,
        health_bps=held.health_bps,
        free_at=held.free_at,
        leaving_seconds=held.position.leaving_seconds,
        times=_tell_times(held),
        locked=_tell_locked(held),
        counted=tell_rules(held),
        range=tell_range(held),
    )


def _tell_times(held: HeldPosition) -> tuple[KeptTime, ...]:
    """When parts of it come free, and when claims in it are due, each time once; the first one first."""
    legs = held.position.legs
    free = {leg.free_at for leg in legs if leg.free_at is not None and leg.free_at != WHEN_REPAID}
    due = {leg.due.at for leg in legs if leg.due is not None}
    return tuple(
        KeptTime(at, what) for at, what in sorted({*((at, "free") for at in free), *((at, "due") for at in due)})
    )


def _tell_locked(held: HeldPosition) -> tuple[KeptLock, ...]:
    """What of it cannot be taken out now, and why."""
    tokens = {part.token.address: part.token for part in held.parts}
    return tuple(
        KeptLock(
            units=format_units(each.raw, tokens[each.token].decimals, tokens[each.token].symbol) if each.raw else "",
            reason=LOCKED_WORDS.get(each.reason, each.reason),
        )
        for each in held.position.locked
        if each.token in tokens
    )


def tell_rules(held: HeldPosition) -> tuple[str, ...]:
    """Say in sentences by which rules parts of a position count, which parts never count, and how much slashes took."""
    return (*_tell_due(held), *_tell_uncounted(held), *_tell_slashed(held))


def _tell_due(held: HeldPosition) -> list[str]:
    """What claims that are due later count as, and by what."""
    told = []
    for leg, part in zip(held.position.legs, held.parts, strict=True):
        if leg.due is None:
            continue
        due, token = leg.due, part.token
        claim = format_units(due.claim, due.decimals, due.symbol)
        face = format_units(due.face, token.decimals, token.symbol)
        on = datetime.fromtimestamp(due.at, tz=UTC).date().isoformat()
        counted = format_units(leg.raw, token.decimals, token.symbol)
        by = f"the lower of its average price of {due.seconds // 60} minutes and what is due"
        told.append(
            f"{claim}: {face} are due since {on}"
            if due.average is None
            else f"{claim}: {face} due on {on}, counted as {counted}, {by}"
        )
    return told


def _tell_uncounted(held: HeldPosition) -> list[str]:
    """What never counts, why, and what people are shown beside it."""
    tokens = {part.token.address: part.token for part in held.shown}
    told = []
    for each in held.position.uncounted:
        what = f"{format_units(each.raw, each.decimals, each.symbol)} count as nothing: {UNCOUNTED_WORDS[each.reason]}"
        if each.market is not None and (token := tokens.get(each.market.token)) is not None:
            what += f"; about {format_units(each.market.raw, token.decimals, token.symbol)} at the market"
        told.append(what)
    return told


def _tell_slashed(held: HeldPosition) -> list[str]:
    tokens = {part.token.address: part.token for part in held.parts}
    return [
        f"slashes took {format_units(each.taken, token.decimals, token.symbol)} of what was put in, for the faults of"
        f" {each.keeper}; the rest counts"
        for each in held.position.slashable
        if each.taken and (token := tokens.get(each.token)) is not None
    ]


def _units(part: Worth) -> str:
    return format_units(abs(part.raw), part.token.decimals, part.token.symbol)
