"""`lending_flash_loan`: a loan within one transaction, for an account whose own code pays it back."""

from __future__ import annotations

from typing import Any

from tools_app.core.units import format_units
from tools_app.standards.plan_draft import PlanDraft
from tools_app.standards.receipts import describe_mined
from tools_app.subsystems.lending.family import Lender, find_lender, lending
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.lending import PPM, MarketClosed, MarketNotFound, NoReceiver
from tools_app.toolkit.params import CallData, ChainId, RawAmount, Token
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.positions import drive


def report_flash(outcome: PlanOutcome) -> dict[str, Any]:
    """What the loan cost, and what the account has more or less of the asset afterwards."""
    details, mined = outcome.plan.details, describe_mined(outcome)
    return {
        "tx_hash": mined.tx_hash,
        "block_number": mined.block_number,
        "gas_used": mined.gas_used,
        "explorer_url": mined.explorer_url,
        "amount_borrowed": details["amount"],
        "fee_paid": details["fee"],
        "change": str(outcome.deltas.get(str(details["asset"]), 0)),
    }


@lending.write(
    action_type="flash_loan",
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    report=report_flash,
    action_class=ActionClass.REBALANCE,
    steps=("Reading the terms", "Building calls"),
    snippet=(
        "lending_flash_loan: borrow and pay back within one transaction; only for an account that is a contract which"
        " can receive such loans."
    ),
    guidelines=("A plain account cannot take a flash loan; nothing will change that but another kind of account.",),
)
def lending_flash_loan(
    ctx: WriteContext,
    asset: Token,
    amount: RawAmount,
    receiver_calldata: CallData,
    provider: Lender,
    chain_id: ChainId | None = None,
) -> TxPlan:
    """Take a flash loan that the golem's own account pays back in the same transaction.

    Use only with an account whose code answers the lender's callback; `receiver_calldata` is handed to it. The fee is
    paid by the account.
    Does not lend to other contracts, and refuses a plain account.
    """
    reader = ctx.chain(chain_id)
    token = reader.token(asset)
    ctx.step("Reading the terms")
    lender, offer = find_lender(reader, provider)
    if not reader.code(ctx.account):
        raise NoReceiver(
            f"{ctx.account} is a plain account, and a flash loan goes to a contract that pays it back within the"
            " transaction; a smart account with a receiver is needed",
            account=ctx.account,
        )
    terms = drive(offer.flash_terms(reader.chain_id, token.address), reader.call_many)
    if terms is None:
        raise MarketNotFound(f"{lender.label} gives no flash loans of {token.symbol}", asset=token.address)
    if amount > terms.liquidity:
        raise MarketClosed(
            f"{format_units(terms.liquidity, token.decimals, token.symbol)} is all there is to be lent",
            reason="liquidity",
            room=str(terms.liquidity),
        )
    fee = -(-amount * terms.fee_ppm // PPM)
    ctx.step("Building calls")
    data = bytes.fromhex(receiver_calldata[2:])
    call = offer.flash_call(reader.chain_id, ctx.account, token.address, amount, data)
    details = {"venue": lender.name, "asset": token.address, "amount": str(amount), "fee": str(fee)}
    draft = PlanDraft(reader.chain_id, ctx.account)
    draft.call(call)
    draft.spend(token, fee)
    return draft.finish(action_class=ActionClass.REBALANCE, details=details)
