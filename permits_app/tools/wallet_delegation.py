"""`wallet_get_delegation`: whose code the golem's account runs, and whose money it may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from permits_app.limits.received_rights import list_standing, view_right
from permits_app.models import ReceivedRight
from permits_app.tools.wallet import wallet
from tools_app.chain.running_code import find_delegate
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.context import ChainReader, ReadContext
from tools_app.toolkit.enums import Requirement
from tools_app.toolkit.others_money import RightStanding
from tools_app.toolkit.params import Address, ChainId
from tools_app.toolkit.positions import PositionsUnreadable
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.result import TokenAmount

MOST_TOLD: Final = 20


@dataclass(frozen=True, slots=True)
class PermissionHeld:
    """One right over somebody else's money. `stands` is what its contract says now, `reason` why it does not;
    `available` is what is left of it in the present period.
    """

    protocol: str
    reference: str
    principal: str
    token: str
    most: TokenAmount
    period_seconds: int
    available: TokenAmount
    stands: bool
    reason: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class DelegationStatus:
    """`delegated`: the account runs the code at `delegate_address` (EIP-7702), which then may do anything with what it
    holds. `permissions` are rights that the account received from others; `expires_at` is when the first of those that
    stand ends, null where none does.
    """

    address: str
    chain_id: int
    delegated: bool
    delegate_address: str | None
    permissions: tuple[PermissionHeld, ...]
    expires_at: str | None
    block_number: int


@wallet.read(
    requires=(Requirement.WALLET,),
    snippet=(
        "delegation: whether the golem's account runs another contract's code, and which rights over others' money it"
        " holds, how much is left of each and until when."
    ),
    guidelines=("A right that does not stand is not coming back: ask its giver for a new one.",),
)
def wallet_get_delegation(
    ctx: ReadContext, contract: Address | None = None, chain_id: ChainId | None = None
) -> DelegationStatus:
    """Read what delegations touch the golem's account: its own code by EIP-7702, and rights that others gave it.

    Use before drawing on somebody's money. `contract` keeps the rights over that token, or of that giver; the contracts
    that honour them are asked at one block.
    Does not look at other accounts, and does not tell what a right would need to be used elsewhere.
    """
    reader, account = ctx.chain(chain_id), ctx.golem.address
    if account is None:
        raise InvalidParams("this golem has no wallet")
    ctx.step("Reading the account")
    runs = find_delegate(reader.code(account))
    ctx.step("Asking who gave rights")
    rows = list_standing(ctx.golem.id).filter(chain_id=reader.chain_id)
    wanted = [row for row in rows if contract is None or contract in (row.token, row.principal)]
    held = tuple(_describe(row, reader, account) for row in wanted[:MOST_TOLD])
    return DelegationStatus(
        address=account,
        chain_id=reader.chain_id,
        delegated=runs is not None,
        delegate_address=runs,
        permissions=held,
        expires_at=min((each.expires_at for each in held if each.stands), default=None),
        block_number=reader.block.number,
    )


def _describe(row: ReceivedRight, reader: ChainReader, account: str) -> PermissionHeld:
    token, standing = reader.token(row.token), ask_standing(row, reader, account)
    return PermissionHeld(
        protocol=row.protocol,
        reference=row.reference,
        principal=row.principal,
        token=row.token,
        most=TokenAmount(int(row.most), token),
        period_seconds=int(row.period_seconds),
        available=TokenAmount(standing.available, token),
        stands=standing.stands,
        reason=standing.reason,
        expires_at=row.ends_at.isoformat(),
    )


def ask_standing(row: ReceivedRight, reader: ChainReader, account: str) -> RightStanding:
    """What its contracts say of a right now, for the account that holds it."""
    protocol, view = SHELF.get(row.protocol), view_right(row)
    if protocol is None or protocol.received is None:
        return RightStanding(False, 0, "nobody here knows its protocol any more")
    if row.holder != account:
        return RightStanding(False, 0, f"it was given to {row.holder}, which is not this golem's account any more")
    if not view.limit.starts_at <= reader.block.timestamp < view.limit.ends_at:
        return RightStanding(False, 0, "its time is over, or has not begun")
    try:
        return protocol.received.judge(view, reader.call_many(protocol.received.ask(view)))
    except PositionsUnreadable as error:
        return RightStanding(False, 0, f"its contract does not tell whether it stands: {error}")
