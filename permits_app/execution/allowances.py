"""Reads from the chain what spenders may still take after a plan ended, and keeps it.

A plan that fails half-way leaves what its first calls approved; that is listed, counted and taken back by a halt like
any other.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from permits_app.limits.reserved_parts import read_parts
from permits_app.models import ActionPermit, OutboundTransaction, StandingAllowance
from permits_app.models.permit import UNFINISHED
from permits_app.models.transaction import PayloadPurpose
from permits_app.permits.plan_store import decode_plan
from tools_app.core.compiled_query import CompiledQuery, CompiledStatement
from tools_app.core.errors import GolemError
from tools_app.core.units import format_units
from tools_app.standards import erc20
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import AllowanceLeft, TxPlan

logger = logging.getLogger(__name__)

Pair = tuple[str, str]
"""Token and spender, EIP-55."""
_BIGGEST = 2**63 - 1
"""Micro-USD a row can hold: an unlimited allowance is more than any limit."""


_ACCOUNT: Any = (UUID(int=0), 901, "an account")  # Any: arguments of a query, typed by their place
_STANDING = CompiledStatement(
    lambda golem_id, chain_id, account: (
        StandingAllowance.objects.filter(golem_id=golem_id, chain_id=chain_id, account=account)
        .exclude(left="0")
        .values_list("token", "spender")
    ),
    *_ACCOUNT,
)
_LOCKED: CompiledQuery[StandingAllowance] = CompiledQuery(
    lambda golem_id, chain_id, account: StandingAllowance.objects.select_for_update(no_key=True).filter(
        golem_id=golem_id, chain_id=chain_id, account=account
    ),
    *_ACCOUNT,
)


def _account_of(permit: ActionPermit) -> tuple[UUID, int, str]:
    return permit.golem_id, permit.chain_id, permit.account


@dataclass(frozen=True, slots=True)
class LeftOver:
    """Base units each spender may still take after `block_number`: of the plan's own pairs, which are `planned`, and of
    others that the account left before. `lent` is what permits under way give by pair, for which they answer when they
    end.
    """

    left: Mapping[Pair, int]
    planned: Mapping[Pair, AllowanceLeft]
    block_number: int
    lent: Mapping[Pair, int] = field(default_factory=dict)

    def list_beyond(self) -> list[tuple[AllowanceLeft, int]]:
        """The plan's allowances of which more is left than it promised, and than others gave, with how much is left."""
        return [
            (each, left)
            for pair, each in self.planned.items()
            if (left := self.left.get(pair, 0)) > max(each.left, self.lent.get(pair, 0))
        ]

    def describe_beyond(self) -> list[str]:
        """The same in words."""
        return [
            f"{each.spender} may still take {format_units(left, each.token.decimals, each.token.symbol)}"
            for each, left in self.list_beyond()
        ]

    def describe(self) -> list[dict[str, str]]:
        """JSON-ready lines of what the plan left standing."""
        return [
            {
                "token": each.token.address,
                "symbol": each.token.symbol,
                "spender": each.spender,
                "raw": str(left),
                "units": format_units(left, each.token.decimals, each.token.symbol),
            }
            for pair, each in self.planned.items()
            if (left := self.left.get(pair, 0))
        ]


def read_left(
    *, permit: ActionPermit, plan: TxPlan, succeeded: bool, block_number: int, chain: ChainReader | None
) -> LeftOver:
    """What the chain says after the reader's block of the plan's allowances and of those the account left before.

    A plan that succeeded and promised to leave nothing is believed, since it was simulated so. Without a node's answer
    a plan counts as having left what it promised, and one that failed all it approved.
    """
    planned = _list_of_tokens(plan)
    known = [(str(token), str(spender)) for token, spender in _STANDING.fetch(*_account_of(permit))]
    if succeeded:
        left = {pair: each.left for pair, each in planned.items()}
    else:
        left = {pair: each.granted for pair, each in planned.items() if each.granted}
    if known or any(left.values()) or (planned and not succeeded):
        left |= _ask(chain, permit.account, list(dict.fromkeys([*planned, *known])))
    over = LeftOver(left, planned, block_number)
    return replace(over, lent=_read_lent(permit, block_number)) if over.list_beyond() else over


def assume_left(*, plan: TxPlan, succeeded: bool, block_number: int) -> LeftOver:
    """Without a node's answer: what the plan promised to leave, and all it approved where it failed."""
    planned = _list_of_tokens(plan)
    return LeftOver(
        {pair: each.left if succeeded else each.granted for pair, each in planned.items()}, planned, block_number
    )


def _list_of_tokens(plan: TxPlan) -> dict[Pair, AllowanceLeft]:
    """The plan's allowances that tokens keep. What Permit2 keeps reaches no further than the token's own to Permit2."""
    return {
        (each.token.address, each.spender): each
        for each in plan.allowances
        if not each.token.is_native and not each.through
    }


def value_beyond(*, permit: ActionPermit, over: LeftOver) -> int:
    """Micro-USD of what is left beyond the plan's promises, at the permit's prices, rounded up."""
    return sum(_value(permit, each.token.address, left - each.left) for each, left in over.list_beyond())


def note_left(*, permit: ActionPermit, over: LeftOver, counted_at: datetime) -> None:
    """Keep it, unless what is kept is of a later block. Joins the caller's transaction."""
    kept = {(row.token, row.spender): row for row in _LOCKED.fetch(*_account_of(permit))}
    for pair, left in over.left.items():
        row, planned = kept.get(pair), over.planned.get(pair)
        if row is None:
            # That one is revoked is kept too: a permit that ended in an earlier block may be judged later.
            if planned is not None and (left or not planned.granted):
                _keep(permit, planned, left, over.block_number, counted_at)
        elif row.block_number <= over.block_number:
            if planned is not None and planned.granted and left:
                row.permit, row.counted_at = permit, counted_at
                row.worth_micro_usd = _value(permit, row.token, left)
            elif int(row.left):
                row.worth_micro_usd = min(_BIGGEST, -(-row.worth_micro_usd * left // int(row.left)))
            row.left, row.block_number = str(left), over.block_number
            row.save(update_fields=["permit", "counted_at", "worth_micro_usd", "left", "block_number", "updated_at"])


def _keep(permit: ActionPermit, planned: AllowanceLeft, left: int, block_number: int, counted_at: datetime) -> None:
    token = planned.token
    row = StandingAllowance(
        golem_id=permit.golem_id,
        permit=permit,
        chain_id=permit.chain_id,
        account=permit.account,
        token=token.address,
        symbol=token.symbol[:64],
        decimals=token.decimals,
        spender=planned.spender,
        left=str(left),
        worth_micro_usd=_value(permit, token.address, left),
        counted_at=counted_at,
        block_number=block_number,
    )
    # Of two permits that end at once and left the same one is kept; the next outcome is read for both.
    StandingAllowance.objects.bulk_create([row], ignore_conflicts=True)


def _read_lent(permit: ActionPermit, block_number: int) -> dict[Pair, int]:
    """What other permits of the account that were under way at the end of that block give by pair.

    An approval sets and adds nothing: where one gives only later, it takes the place of what is left now.
    """
    of_account = {"chain_id": permit.chain_id, "signer": permit.signer, "acts_for": permit.acts_for}
    begun = OutboundTransaction.objects.filter(purpose=PayloadPurpose.CALL, permit=OuterRef("pk"))
    is_open = Q(status__in=[str(each) for each in UNFINISHED]) | Q(transactions__block_number__gt=block_number)
    others = ActionPermit.objects.filter(is_open, golem=permit.golem_id, **of_account).exclude(pk=permit.pk)
    lent: dict[Pair, int] = {}
    for other in others.filter(Exists(begun)).distinct():
        for pair, each in _list_of_tokens(decode_plan(other)).items():
            lent[pair] = max(lent.get(pair, 0), each.granted)
    return lent


def _ask(chain: ChainReader | None, account: str, pairs: Sequence[Pair]) -> dict[Pair, int]:
    """What the chain answers; a pair it does not answer for is absent."""
    if chain is None:
        return {}
    try:
        outcomes = chain.call_many([erc20.allowance_call(token, account, spender) for token, spender in pairs])
    except GolemError as error:
        logger.warning("allowances of %s unread: %s", account, error.code)
        return {}
    return {pair: int(found.values[0]) for pair, found in zip(pairs, outcomes, strict=True) if found.ok}


def _value(permit: ActionPermit, token: str, raw: int) -> int:
    """At the price the permit reserved the token for; one it has no price of counts as all it reserved."""
    if not raw:
        return 0
    claim = permit.spend_entry
    if claim is None:
        return 0
    for part in read_parts(claim.breakdown):
        if part.token == token and part.raw:
            return min(_BIGGEST, -(-part.micro_usd * raw // part.raw))
    return int(claim.reserved_micro_usd)
