"""Swaps whose calldata the Trading API makes: one call, a wallet's bundle, or that of a delegated account."""

from __future__ import annotations

from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, decode_values
from tools_app.protocols.uniswap.tools.swaps import report_swap, uniswap_execute_swap
from tools_app.protocols.uniswap.trading_api.answer_types import (
    BundleAnswer,
    QuoteAnswer,
    QuoteToSendBack,
    SwapAnswer,
    read_whole,
)
from tools_app.protocols.uniswap.trading_api.api_family import API, uniswap_api
from tools_app.protocols.uniswap.trading_api.errors import AccountNotDelegated, ForeignCallRefused
from tools_app.protocols.uniswap.trading_api.match_swap_effects import ask_for_less, check_addressed, hold_to_plan
from tools_app.protocols.uniswap.trading_api.quote_reads import check_quote
from tools_app.protocols.uniswap.trading_api.requests import name_token, post_question
from tools_app.standards import erc20
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.enums import Requirement, RiskLayer, TickBudget
from tools_app.toolkit.outside_services import Answered, ask
from tools_app.toolkit.params import ContractAddress, DeadlineSeconds, RawAmount, SlippageBps, Token
from tools_app.toolkit.plan import Call, TxPlan

DELEGATED: Final = bytes.fromhex("ef0100")
"""What the code of an account that runs another contract's code begins with (EIP-7702)."""
EXECUTE: Final = "function execute(bytes32 mode, bytes executionData)"
_BUNDLE: Final = "(address,uint256,bytes)[]"
_ONE_AFTER_ANOTHER: Final = bytes.fromhex("01" + "00" * 31)
"""The mode in which a delegated account carries out a list of calls, and reverts whole where one does (ERC-7821)."""


@uniswap_api.write(
    action_type="api_swap",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_swap,
    snippet="api_swap: as swap, with calldata that the Trading API makes and our own plan bounds by what it does.",
    guidelines=("Prefer swap, which asks nobody; take this one where api_quote gives more.",),
)
def uniswap_api_create_swap_calldata(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Swap with calldata of the Trading API, quoted by it anew and held to our own plan.

    Use where its quote is better than ours. It is taken only if all its bytes can be read here, no more leaves, no less
    comes, the golem alone is paid and it ends in time; else the code is FOREIGN_CALL_REFUSED.
    Does not buy an exact amount, and signs no typed data of the service.
    """
    own, answer = _quote(ctx, token_in, token_out, amount, slippage_bps, deadline)
    made = ask(
        ctx, API, post_question("/swap", SwapAnswer, quote=answer.value.quote, deadline=own.deadline, safetyMode="SAFE")
    )
    call = check_addressed(made.value.swap, account=ctx.account, chain_id=own.chain_id)
    return hold_to_plan(ctx.chain(own.chain_id), own, call, account=ctx.account, details=_say(made))


@uniswap_api.write(
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_swap,
    requires=(Requirement.SMART_WALLET,),
    snippet="api_batch_swap: as api_swap, for a wallet that carries out approval and swap as one.",
    guidelines=("Approvals of the service are never taken: the one that is signed is exact and our own.",),
)
def uniswap_api_batch_swap(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Swap with a bundle of calls of the Trading API (EIP-5792), for a wallet that carries out several calls as one.

    Use with such a wallet where the service's quote is better. Every call of the bundle is an approval of the token
    that is sold, or the one swap; the approval that is signed is our own. Else the code is FOREIGN_CALL_REFUSED.
    Does not work for an account that is a plain key: it signs one call at a time.
    """
    own, answer = _quote(ctx, token_in, token_out, amount, slippage_bps, deadline)
    question = post_question("/swap_5792", BundleAnswer, quote=answer.value.quote, deadline=own.deadline)
    made = ask(ctx, API, question)
    for field, theirs, ours in (
        ("account", made.value.sender, ctx.account),
        ("chain", made.value.chain_id, own.chain_id),
    ):
        if theirs != ours:
            raise ForeignCallRefused(f"it names another {field}: {theirs}, not {ours}", field=field)
    steps = [Call(each.to, bytes.fromhex(each.data[2:]), read_whole(each.value), "") for each in made.value.calls]
    return hold_to_plan(ctx.chain(own.chain_id), own, _find_swap(own, steps), account=ctx.account, details=_say(made))


@uniswap_api.write(
    action_type="api_delegated_swap",
    risk=RiskLayer.BOUNDED,
    budget=TickBudget.SLOW,
    report=report_swap,
    snippet="api_delegated_swap: as api_swap, for an account that is delegated to a contract (EIP-7702); unwrapped.",
    guidelines=("The account is never delegated by it; where it is not, the code is ACCOUNT_NOT_DELEGATED.",),
)
def uniswap_api_create_delegated_swap(
    ctx: WriteContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    delegation_address: ContractAddress,
    slippage_bps: SlippageBps = 50,
    deadline: DeadlineSeconds = 300,
) -> TxPlan:
    """Swap with a bundle of the Trading API for an account that is delegated to `delegation_address` already.

    Use only for such an account. The bundle is taken apart, each of its calls is held to our own plan, and the account
    sends them itself; the contract it is delegated to is not called.
    Does not delegate: the chain says whether the account is, and to whom.
    """
    reader = ctx.chain()
    found = reader.code(ctx.account)
    if found != DELEGATED + bytes.fromhex(delegation_address[2:]):
        raise AccountNotDelegated(
            f"on chain {reader.chain_id} the account {ctx.account} is not delegated to {delegation_address}",
            delegated_to="0x" + found[len(DELEGATED) :].hex() if found.startswith(DELEGATED) else None,
            next={"action_type": "api_swap", "venue": "uniswap"},
        )
    own, answer = _quote(ctx, token_in, token_out, amount, slippage_bps, deadline)
    made = ask(
        ctx,
        API,
        post_question(
            "/swap_7702",
            SwapAnswer,
            quote=answer.value.quote,
            smartContractDelegationAddress=delegation_address,
            deadline=own.deadline,
        ),
    )
    outer = check_addressed(made.value.swap, account=ctx.account, chain_id=own.chain_id)
    swap = _find_swap(own, _unwrap(outer, ctx.account))
    return hold_to_plan(reader, own, swap, account=ctx.account, details=_say(made))


# ---- below ----------------------------------------------------------------------------------------------------------


def _quote(
    ctx: WriteContext,
    token_in: str,
    token_out: str,
    amount: int,
    slippage_bps: int,
    deadline: int,
) -> tuple[TxPlan, Answered[QuoteToSendBack]]:
    """Our own plan, and the service's quote of the same, checked. Raises ForeignAnswerUnfit."""
    own = uniswap_execute_swap(ctx, token_in, token_out, amount, slippage_bps, deadline)
    reader: ChainReader = ctx.chain(own.chain_id)
    (given,), (wanted,) = own.spends, own.receives
    ctx.step("Asking the service")
    answer: Answered[QuoteToSendBack] = ask(
        ctx,
        API,
        post_question(
            "/quote",
            QuoteToSendBack,
            type="EXACT_INPUT",
            amount=str(amount),
            tokenIn=name_token(given.token),
            tokenOut=name_token(wanted.token),
            tokenInChainId=reader.chain_id,
            tokenOutChainId=reader.chain_id,
            swapper=ctx.account,
            slippageTolerance=ask_for_less(slippage_bps) / 100,
            routingPreference="BEST_PRICE",
            protocols=["V2", "V3", "V4"],
            hooksOptions="V4_NO_HOOKS",
        ),
    )
    check_quote(
        QuoteAnswer.model_validate(
            {"requestId": answer.value.request_id, "routing": answer.value.routing, "quote": answer.value.quote}
        ),
        sold=given.token,
        bought=wanted.token,
        amount=amount,
        is_exact_out=False,
        chain_id=reader.chain_id,
        swapper=ctx.account,
    )
    if answer.value.routing != "CLASSIC":
        raise ForeignCallRefused(
            f"it would be carried out as {answer.value.routing}, and a swap goes through pools", field="routing"
        )
    return own, answer


def _find_swap(own: TxPlan, steps: list[Call]) -> Call:
    """The one call of a bundle that is no approval of what is sold. Raises ForeignCallRefused."""
    swaps = [each for each in steps if not calls(each.data, erc20.APPROVE)]
    if len(swaps) != 1:
        raise ForeignCallRefused(
            f"its bundle has {len(swaps)} calls besides approvals, and must have one", field="steps"
        )
    (swap,), (given,) = swaps, own.spends
    for each in steps:
        if each is swap:
            continue
        try:
            read_exactly(each.data, erc20.APPROVE)
        except UnknownCall as error:
            raise ForeignCallRefused(str(error), field="approval") from None
        if each.to != given.token.address or each.value:
            raise ForeignCallRefused(f"its bundle approves {each.to}, which is not sold", field="approval")
    return swap


def _unwrap(outer: Call, account: str) -> list[Call]:
    """The calls of a bundle that a delegated account is asked to carry out on itself. Raises ForeignCallRefused."""
    if outer.to != account or outer.value:
        raise ForeignCallRefused(f"it calls {outer.to}, or is sent coin, and not the account itself", field="contract")
    try:
        mode, packed = read_exactly(outer.data, EXECUTE)
        (found,) = decode_values((_BUNDLE,), packed)
    except (UnknownCall, AbiDecodeError) as error:
        raise ForeignCallRefused(f"its bundle cannot be read: {error}", field="steps") from None
    if mode != _ONE_AFTER_ANOTHER:
        raise ForeignCallRefused("its bundle is not one that reverts whole", field="mode")
    return [Call(to, data, value, "") for to, value, data in found]


def _say(answer: Answered[Any]) -> dict[str, Any]:  # Any: a stranger's JSON
    return {"calldata_by": answer.source.service, "calldata_at": answer.source.answered_at}
