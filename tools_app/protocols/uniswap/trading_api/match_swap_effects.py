"""A stranger's swap held to the plan this server would make itself, by what its bytes do and not by how they look.

Another route, router or order of steps is the service's business. What leaves, what must come at least, to whom and
until when is ours: whoever reads the effects of the contract's calls says it, and a byte that reader does not know is
refused. So is every contract that nobody here can read.
"""

from __future__ import annotations

from dataclasses import replace

from tools_app.protocols.uniswap.trading_api.answer_types import AnsweredTransaction, read_whole
from tools_app.protocols.uniswap.trading_api.errors import ForeignCallRefused
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.standards import erc20
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.plan_draft import PlanDraft
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.protocol import SHELF

NOTHING_BESIDES = (
    "open_minimums",
    "approvals",
    "rights",
    "paid_plainly",
    "lent",
    "changes",
    "statements",
    "items",
    "arrivals",
    "hooks",
    "principals",
)
"""What a swap has none of."""


def ask_for_less(slippage_bps: int) -> int:
    """Whoever makes calldata is asked for a little less than may be, so that its rounding loosens no bound of ours."""
    return slippage_bps * 9 // 10


def check_addressed(made: AnsweredTransaction, *, account: str, chain_id: int) -> Call:
    """The transaction as a call of the account on its chain. Raises ForeignCallRefused."""
    for field, theirs, ours in (("chain", made.chain_id, chain_id), ("account", made.sender, account)):
        if theirs != ours:
            raise ForeignCallRefused(f"it names another {field}: {theirs}, not {ours}", field=field)
    return Call(made.to, bytes.fromhex(made.data[2:]), read_whole(made.value), "")


def hold_to_plan(
    reader: ChainReader,
    own: TxPlan,
    theirs: Call,
    *,
    account: str,
    details: dict[str, object],
    maker: str = "the Trading API",
) -> TxPlan:
    """Our plan of a swap with their call in the place of ours, and an exact approval of our own before it.

    Raises ForeignCallRefused.
    """
    effects = _read(reader, theirs, account)
    (given,), (wanted,) = own.spends, own.receives
    spends = {token: raw for token, raw in effects.spends.items() if raw}
    if set(spends) != {given.token.address} or spends[given.token.address] > given.bound:
        raise ForeignCallRefused(f"it takes {spends}, and {given.bound} of {given.token.symbol} may go", field="spends")
    receives = {token: raw for token, raw in effects.receives.items() if raw}
    if set(receives) != {wanted.token.address} or receives[wanted.token.address] < wanted.bound:
        raise ForeignCallRefused(
            f"it asks for {receives}, and at least {wanted.bound} of {wanted.token.symbol} must come", field="receives"
        )
    if set(effects.recipients) != {account}:
        raise ForeignCallRefused(f"it pays {effects.recipients}, and not the account alone", field="recipient")
    until = own.deadline or 0
    if not effects.deadlines or not all(reader.block.timestamp < each <= until for each in effects.deadlines):
        raise ForeignCallRefused(f"it runs until {effects.deadlines}, and must end by {until}", field="deadline")
    coin = given.bound if given.token.is_native else 0
    if theirs.value > coin:
        raise ForeignCallRefused(f"it is sent {theirs.value} wei, and {coin} may go", field="coin")
    for name in NOTHING_BESIDES:
        if getattr(effects, name):
            raise ForeignCallRefused(f"it does more than a swap: {name.replace('_', ' ')}", field=name)
    least = receives[wanted.token.address]
    draft = PlanDraft(own.chain_id, account)
    _approve(reader, draft, own, theirs.to)
    draft.call(replace(theirs, label=f"{own.calls[-1].label}, by calldata of {maker}"))
    draft.spend(given.token, given.expected, at_most=given.bound)
    # What their bytes demand beyond ours is promised too.
    draft.receive(wanted.token, max(wanted.expected, least), at_least=least)
    return draft.finish(
        action_class=own.action_class,
        slippage_bps=own.slippage_bps,
        price_impact_bps=own.price_impact_bps,
        deadline=own.deadline,
        details={**own.details, **details, "router": theirs.to},
    )


def _read(reader: ChainReader, call: Call, account: str) -> Effects:
    protocol = SHELF.of_contract(reader.chain_id, call.to)
    if protocol is None or protocol.effects is None:
        raise ForeignCallRefused(f"{call.to} is no contract whose calls can be read here", field="contract")
    effects = Effects()
    try:
        protocol.effects.read(call, earlier=(), account=account, chain=reader, into=effects)
    except UnknownCall as error:
        raise ForeignCallRefused(str(error), field="calldata") from None
    return effects


def _approve(reader: ChainReader, draft: PlanDraft, own: TxPlan, spender: str) -> None:
    """Exactly what may go, to the contract that is called and nobody else; by way of Permit2 where that takes it so."""
    (given,), v4 = own.spends, v4_on(own.chain_id)
    if given.token.is_native:
        return
    is_through = v4 is not None and spender == v4.router
    asked = PERMIT2 if is_through else spender
    allowed = erc20.allowance(reader, given.token, draft.account, asked)
    if is_through:
        draft.approve_through_permit2(
            given.token, spender=spender, amount=given.bound, allowance=allowed, until=own.deadline or 0
        )
    else:
        draft.approve(given.token, spender=spender, amount=given.bound, allowance=allowed)
