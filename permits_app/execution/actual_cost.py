"""Computes what a permit really cost in micro-USD, which the ledger settles, also beyond the reservation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from permits_app.execution.outcome import Judgement
from permits_app.limits.reserved_parts import ALLOWANCE, GAS, PRINCIPAL, ReservedPart, read_parts
from permits_app.models import ActionPermit
from permits_app.permits.kept_bounds import KeptFlow
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import IntText, read_stored
from tools_app.core.units import value_in_micro_usd
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import NATIVE

MOST_MICRO_USD: Final = 2**63 - 1
"""The most a row can hold; more than any limit."""


def value_spent(
    *, permit: ActionPermit, judgement: Judgement, chain_native_decimals: int, chain: ChainReader | None = None
) -> int:
    """Micro-USD really spent, gas included: the plan's own tokens at the preview's prices, others that left at the
    feeds of `chain`'s block. A token that no balance told of counts as no less than was reserved for it; one that the
    plan does not spend and nobody prices counts as nothing.
    """
    total = 0
    seen: set[str] = set()
    claim = permit.spend_entry
    parts = read_parts(claim.breakdown) if claim is not None else ()
    for part in parts:
        if part.role == GAS:
            if not judgement.is_fee_known:
                total += part.micro_usd
                continue
            total += -(-part.micro_usd * judgement.fee_wei // part.raw) if part.raw else 0
        elif part.role == ALLOWANCE:
            total += part.micro_usd
        elif part.role == PRINCIPAL:
            # What moved of it is measured with its principal; the golem's own balance does not tell.
            total += part.micro_usd if judgement.succeeded else 0
        elif part.token == NATIVE and not judgement.is_coin_known:
            total += part.micro_usd
        elif part.token not in seen:
            seen.add(part.token)
            spent = _value_part(permit, part, -judgement.deltas.get(part.token, 0), chain_native_decimals)
            total += max(spent, part.micro_usd) if part.token in judgement.unshown else spent
    reserved = {part.token for part in parts if part.role != PRINCIPAL}
    lost = {token: -delta for token, delta in judgement.deltas.items() if delta < 0 and token not in reserved}
    total += sum(_value_lost(token, raw, chain) for token, raw in lost.items())
    return min(MOST_MICRO_USD, total)


@dataclass(frozen=True, slots=True)
class UsedPrice:
    """A feed's answer that a permit was valued with."""

    feed: str
    answer: IntText
    decimals: int


def _value_part(permit: ActionPermit, part: ReservedPart, left: int, chain_native_decimals: int) -> int:
    prices = (read_stored(UsedPrice, each) for each in permit.prices)
    price = next((each for each in prices if each.feed == part.feed), None)
    if price is None or left <= 0:
        return 0
    spends = (read_stored(KeptFlow, each) for each in permit.bounds["spends"])
    decimals = next(
        (flow.token.decimals for flow in spends if flow.token.address == part.token),
        chain_native_decimals,
    )
    return value_in_micro_usd(raw=left, token_decimals=decimals, price=price.answer, price_decimals=price.decimals)


def _value_lost(address: str, raw: int, chain: ChainReader | None) -> int:
    if chain is None:
        return 0
    try:
        token = chain.native() if address == NATIVE else chain.token(address)
        price = chain.price(token)
    except GolemError:
        return 0
    return value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals)
