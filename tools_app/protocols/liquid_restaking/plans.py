"""The calls that deposit, ask back, redeem at once and claim, with what each promises to change; in ether.

A promise that begins with tokens leaves room for what an issuer's report may move their worth until it is carried out.
Neither ether.fi nor Renzo takes the least that a depositor wants: what arrives is measured before a signature, and held
to the promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_units
from tools_app.protocols.liquid_restaking import etherfi, kelp, renzo
from tools_app.protocols.liquid_restaking.addresses import (
    COIN,
    ETHERFI,
    KELP,
    LABELS,
    NAME,
    SYMBOLS,
    RestakingContracts,
)
from tools_app.protocols.liquid_restaking.issuers import BPS, Holding, Request, Standing
from tools_app.protocols.liquid_restaking.positions import STAKE, request_ref, stake_ref
from tools_app.standards import erc20
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.positions import REQUEST_KIND, PositionChange, PositionRef
from tools_app.toolkit.views import NATIVE

ROUNDING: Final = 4
"""Wei that whole shares may leave of an amount."""
MOST_MOVE_BPS: Final = 50
"""More than an issuer's report moves the worth of a token at once."""
NOBODY: Final = "0x0000000000000000000000000000000000000000"
NO_REFERRAL: Final = ""


def plan_deposit(
    reader: ChainReader,
    account: str,
    at: RestakingContracts,
    holding: Holding,
    amount: int,
    details: Mapping[str, object],
) -> TxPlan:
    """`amount` wei become the issuer's token."""
    issuer, standing = holding.issuer, holding.standing
    expected = standing.tokens_for(amount)
    if issuer == ETHERFI:
        to, data = at.etherfi_adapter, encode_call(etherfi.DEPOSIT, NOBODY)
    elif issuer == KELP:
        to, data = at.kelp_pool, encode_call(kelp.DEPOSIT, _lowered(expected), NO_REFERRAL)
    else:
        to, data = at.renzo_manager, encode_call(renzo.DEPOSIT, 0)
    draft = PlanDraft(reader.chain_id, account)
    draft.call(Call(to, data, amount, f"Restake {format_units(amount, 18, 'ETH')} at {LABELS[issuer]}"))
    draft.spend(reader.native(), amount)
    ref = stake_ref(reader.chain_id, issuer)
    draft.changes.append(_change(STAKE, amount - ROUNDING, _lowered(amount) - ROUNDING, ref))
    is_new = not holding.tokens
    return draft.finish(
        action_class=ActionClass.NEW_POSITION if is_new else ActionClass.INCREASE_POSITION,
        details={**details, "expected_tokens": str(expected)},
    )


def plan_request(
    reader: ChainReader,
    account: str,
    at: RestakingContracts,
    holding: Holding,
    tokens: int,
    details: Mapping[str, object],
) -> TxPlan:
    """`tokens` base units of the issuer's token are asked back at full worth, and wait."""
    issuer, worth = holding.issuer, holding.standing.worth(tokens)
    draft = PlanDraft(reader.chain_id, account)
    if issuer == ETHERFI:
        _ask_etherfi(reader, draft, at, holding, tokens)
    else:
        spender = at.queues[issuer]
        _approve(reader, draft, at.tokens[issuer], spender, tokens)
        data = (
            encode_call(kelp.REQUEST, COIN, tokens, NO_REFERRAL)
            if issuer == KELP
            else encode_call(renzo.REQUEST, tokens, COIN)
        )
        draft.call(Call(spender, data, 0, f"Ask {format_units(tokens, 18, SYMBOLS[issuer])} back"))
    slack = worth * MOST_MOVE_BPS // BPS + ROUNDING
    ref = stake_ref(reader.chain_id, issuer)
    draft.changes += [_change(STAKE, -worth, -worth - slack, ref), _change(REQUEST_KIND, worth, worth - slack, None)]
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details=details)


def plan_at_once(
    reader: ChainReader,
    account: str,
    at: RestakingContracts,
    holding: Holding,
    tokens: int,
    details: Mapping[str, object],
) -> TxPlan:
    """`tokens` base units of the issuer's token are redeemed now, for its fee."""
    issuer, standing = holding.issuer, holding.standing
    worth = standing.worth(tokens)
    paid = standing.paid_at_once(worth) - ROUNDING
    draft = PlanDraft(reader.chain_id, account)
    said = f"Redeem {format_units(tokens, 18, SYMBOLS[issuer])} for ether, less a fee"
    if issuer == ETHERFI:
        _approve(reader, draft, at.weeth, at.etherfi_redemption, tokens)
        draft.call(Call(at.etherfi_redemption, encode_call(etherfi.REDEEM, tokens, account, COIN), 0, said))
    else:
        draft.call(Call(at.kelp_withdrawals, encode_call(kelp.REDEEM, COIN, tokens, NO_REFERRAL), 0, said))
    draft.receive(reader.native(), paid, at_least=_lowered(paid))
    slack = worth * MOST_MOVE_BPS // BPS + ROUNDING
    draft.changes.append(_change(STAKE, -worth, -worth - slack, stake_ref(reader.chain_id, issuer)))
    return draft.finish(action_class=ActionClass.DECREASE_POSITION, details=details)


def plan_claim(
    reader: ChainReader,
    account: str,
    at: RestakingContracts,
    request: Request,
    standing: Standing,
    details: Mapping[str, object],
) -> TxPlan:
    """The ether of a request that waited, to the account."""
    if request.issuer == ETHERFI:
        to, data = at.etherfi_requests, encode_call(etherfi.CLAIM, request.number)
    elif request.issuer == KELP:
        to, data = at.kelp_withdrawals, encode_call(kelp.CLAIM, COIN, NO_REFERRAL)
    else:
        to, data = at.renzo_queue, encode_call(renzo.CLAIM, request.place, account)
    draft = PlanDraft(reader.chain_id, account)
    draft.call(Call(to, data, 0, f"Claim {format_units(request.worth, 18, 'ETH')} of {LABELS[request.issuer]}"))
    draft.receive(reader.native(), request.worth, at_least=_lowered(request.worth))
    ref = request_ref(reader.chain_id, request.id)
    draft.changes.append(
        _change(REQUEST_KIND, -request.worth, -request.worth - request.asked * MOST_MOVE_BPS // BPS, ref)
    )
    return draft.finish(action_class=ActionClass.CLOSE_POSITION, details=details)


def _ask_etherfi(reader: ChainReader, draft: PlanDraft, at: RestakingContracts, holding: Holding, tokens: int) -> None:
    """Its pool takes eETH back: what is loose is used first, and the rest unwrapped."""
    wrapped = max(0, tokens - holding.loose)
    if wrapped:
        said = f"Unwrap {format_units(wrapped, 18, 'weETH')}"
        draft.call(Call(at.weeth, encode_call(etherfi.UNWRAP, wrapped), 0, said))
    # Each of two roundings to whole shares may leave one.
    amount = holding.standing.worth(tokens) - (ROUNDING // 2 if wrapped else 0)
    _approve(reader, draft, at.eeth, at.etherfi_pool, amount)
    data = encode_call(etherfi.REQUEST, draft.account, amount)
    draft.call(Call(at.etherfi_pool, data, 0, f"Ask {format_units(amount, 18, 'eETH')} back"))


def _approve(reader: ChainReader, draft: PlanDraft, token: str, spender: str, amount: int) -> None:
    ((allowance,),) = read_all(reader, [erc20.allowance_call(token, draft.account, spender)])
    draft.approve(reader.token(token), spender=spender, amount=amount, allowance=int(allowance))


def _lowered(amount: int) -> int:
    return amount - amount * MOST_MOVE_BPS // BPS


def _change(kind: str, expected: int, bound: int, ref: PositionRef | None) -> PositionChange:
    return PositionChange(NAME, kind, NATIVE, expected, bound, ref=ref)
