"""`lending_flash_loan`: a loan within one transaction, for an account whose own code pays it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import format_units
from tools_app.standards import erc20
from tools_app.standards.loan_callback import find_handler, run_within
from tools_app.standards.plan_draft import PlanDraft, check_enough
from tools_app.standards.receipts import read_details
from tools_app.subsystems.lending.family import Lender, find_lender, lending, worth
from tools_app.toolkit.context import ChainReader, ReadCall, WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.lending import PPM, FlashTerms, Lending, MarketClosed, MarketNotFound, NoReceiver
from tools_app.toolkit.params import CallData, RawAmount, Token
from tools_app.toolkit.plan import Call, PlanOutcome, TxPlan
from tools_app.toolkit.positions import drive
from tools_app.toolkit.protocol import ProtocolDef
from tools_app.toolkit.result import UsdAmount
from tools_app.toolkit.views import TokenMeta


@dataclass(frozen=True, slots=True)
class LoanSource:
    """A lender that lends `token` within one transaction, what it has and asks for it, and what runs the steps."""

    lender: ProtocolDef
    offer: Lending
    token: TokenMeta
    terms: FlashTerms
    handler: str

    def fee(self, amount: int) -> int:
        """Base units that come on top of `amount`, rounded up."""
        return self.terms.fee(amount)

    def check(self, amount: int) -> None:
        """Raises MarketClosed for more than there is."""
        check_liquidity(self.token, self.terms, amount)

    def most(self, total: int) -> int:
        """The largest loan that costs no more than `total` with its fee."""
        return max(0, total) * PPM // (PPM + self.terms.fee_ppm)

    def wrap(self, chain_id: int, account: str, amount: int, steps: Sequence[Call]) -> tuple[Call, ...]:
        """The calls that run `steps` while `amount` is lent; the steps allow the lender the loan and its fee."""
        shown = format_units(amount, self.token.decimals, self.token.symbol)
        return run_within(
            steps,
            handler=self.handler,
            account=account,
            lender=self.offer.flash_call(chain_id, account, self.token.address, 0, b"").to,
            ask=lambda data: self.offer.flash_call(chain_id, account, self.token.address, amount, data),
            label=f"Announce {len(steps)} steps within a loan of {shown} of {self.lender.label}",
        )


DELEGATION: Final = bytes.fromhex("ef0100")
"""What the code of a plain account begins with that runs another contract's (EIP-7702)."""


@dataclass(frozen=True, slots=True)
class _LoanDetails:
    asset: str
    amount: str
    fee: str
    micro_usd: str | None


def report_flash(outcome: PlanOutcome) -> dict[str, object]:
    """What the loan cost, and what the account has more or less of the asset afterwards; the profit is that at the feed
    of the preview, without gas, None where the asset has none.
    """
    details = read_details(_LoanDetails, outcome)
    change, worth_of_loan = outcome.deltas.get(details.asset, 0), details.micro_usd
    return {
        "amount_borrowed": details.amount,
        "fee_paid": details.fee,
        "change": str(change),
        "profit_usd": None if worth_of_loan is None else UsdAmount(change * int(worth_of_loan) // int(details.amount)),
    }


@lending.write(
    risk=RiskLayer.UNBOUNDED,
    budget=TickBudget.SLOW,
    report=report_flash,
    action_class=ActionClass.REBALANCE,
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
) -> TxPlan:
    """Take a flash loan that the golem's own account pays back in the same transaction.

    Use only with an account that answers the lender's callback, such as a Safe with a fallback handler for it. The fee
    is paid by the account. The safety guardian passes empty `receiver_calldata` alone: what an account's own code does
    with data nobody here can tell.
    Does not lend to other contracts, does nothing between loan and repayment, and refuses a plain account.
    """
    reader = ctx.begin("Reading the terms")
    token = reader.token(asset)
    lender, offer = find_lender(reader, provider)
    check_receiver(reader, ctx.account, lender.label, offer.flash_probe(reader.chain_id, ctx.account, token.address))
    terms = _read_terms(reader, lender, offer, token)
    check_liquidity(token, terms, amount)
    fee = terms.fee(amount)
    ctx.step("Building calls")
    data = bytes.fromhex(receiver_calldata[2:])
    call = offer.flash_call(reader.chain_id, ctx.account, token.address, amount, data)
    details = {
        "venue": lender.name,
        "asset": token.address,
        "amount": str(amount),
        "fee": str(fee),
        "micro_usd": _find_worth(reader, token, amount),
    }
    draft = PlanDraft(reader.chain_id, ctx.account)
    # The lender takes loan and fee back by allowance, out of what it lent and what the account has for the fee.
    check_enough(token, balance=erc20.balance_of(reader, token, ctx.account), needed=fee)
    draft.approve(token, spender=call.to, amount=amount + fee, allowance=0)
    draft.call(call)
    if fee:
        # Rounding may leave a base unit of the allowance.
        draft.revoke(token, spender=call.to)
        draft.spend(token, fee)
    return draft.finish(action_class=ActionClass.REBALANCE, details=details)


def _find_worth(reader: ChainReader, token: TokenMeta, amount: int) -> str | None:
    """Micro-USD of so much at the feed, None without one: a loan needs no price."""
    try:
        return str(worth(reader, token.address, amount))
    except (PriceUnavailable, PriceStale):
        return None


def find_source(reader: ChainReader, account: str, name: str, token: TokenMeta) -> LoanSource:
    """Where a loan of `token` within one transaction comes from, for an account that can do something with it.

    Raises UnknownLender, MarketNotFound, and NoReceiver for an account that runs no steps within a loan.
    """
    lender, offer = find_lender(reader, name)
    handler = find_handler(reader, account)
    if handler is None:
        is_plain = _is_plain(reader, account)
        raise NoReceiver(
            f"{account} runs no steps within a loan; a Safe does whose fallback handler and module is LoanCallback",
            account=account,
            account_kind="plain" if is_plain else "contract",
            can="a Safe with LoanCallback as its fallback handler and module",
        )
    return LoanSource(lender, offer, token, _read_terms(reader, lender, offer, token), handler)


def check_liquidity(token: TokenMeta, terms: FlashTerms, amount: int) -> None:
    """Raises MarketClosed for more than there is to be lent."""
    if amount > terms.liquidity:
        raise MarketClosed(
            f"{format_units(terms.liquidity, token.decimals, token.symbol)} is all there is to be lent",
            reason="liquidity",
            room=str(terms.liquidity),
        )


def _read_terms(reader: ChainReader, lender: ProtocolDef, offer: Lending, token: TokenMeta) -> FlashTerms:
    terms = drive(offer.flash_terms(reader.chain_id, token.address), reader.call_many)
    if terms is None:
        raise MarketNotFound(f"{lender.label} gives no flash loans of {token.symbol}", asset=token.address)
    return terms


def _is_plain(reader: ChainReader, account: str) -> bool:
    return not reader.code(account) or reader.code(account).startswith(DELEGATION)


def check_receiver(reader: ChainReader, account: str, lender: str, probe: ReadCall) -> None:
    """Raises NoReceiver for an account that the lender cannot lend to within a transaction."""
    is_plain = _is_plain(reader, account)
    answer = None if is_plain else reader.call_many([probe])[0]
    if answer is not None and answer.ok and all(answer.values):
        return
    kind = "plain account" if is_plain else "contract that does not answer the lender's callback"
    raise NoReceiver(
        f"{account} is a {kind}; {lender} lends within a transaction to a contract that answers it, such as a Safe with"
        " a fallback handler for that",
        account=account,
        account_kind="plain" if is_plain else "contract",
        can="a Safe with a fallback handler that answers the lender",
    )
