"""What the Trading API says of the golem's account: approvals, a transfer, delegation, ways over bridges."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap.trading_api.answer_types import (
    ApprovalAnswer,
    BridgeableTokens,
    DelegationAnswer,
    SendAnswer,
    read_whole,
)
from tools_app.protocols.uniswap.trading_api.api_family import API, HEADERS, uniswap_api, uniswap_api_anywhere
from tools_app.protocols.uniswap.trading_api.errors import ForeignAnswerUnfit
from tools_app.protocols.uniswap.trading_api.requests import name_token, post_question
from tools_app.select_tool_for_venue import WalletNotConfigured
from tools_app.standards import erc20
from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.enums import Category, Requirement, TickBudget
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.outside_services import OutsideSource, Question, ask
from tools_app.toolkit.params import (
    Address,
    ChainIds,
    RawAmount,
    Token,
)
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

_APPROVE: Final = "function approve(address spender, uint256 amount)"
_MOST_PLACES: Final = 50


class ApiApproval(Told):
    """One token: whether the service sees it approved, and what its transaction would allow whom."""

    token: TokenMeta
    approved: bool
    spender: str | None
    spender_name: str
    would_allow: str | None
    is_unlimited: bool
    needs_reset_first: bool


class ApiApprovals(Told):
    """What `uniswap_api_check_approval` answers. The bytes themselves are not told: writes here approve exactly."""

    all_approved: bool
    token_approvals: tuple[ApiApproval, ...]
    source: OutsideSource


@uniswap_api.read(
    query="api_approval",
    budget=TickBudget.SLOW,
    requires=(Requirement.WALLET,),
    snippet="api_approval: whether the Trading API would want an approval first, for whom and for how much.",
    guidelines=("Writes approve exactly what they need by themselves; nothing has to be approved beforehand.",),
)
def uniswap_api_check_approval(ctx: ReadContext, token: Token, amount: RawAmount) -> ApiApprovals:
    """Ask the Trading API whether a token of the golem's wallet would have to be approved first.

    Use to explain what the vendor's site would ask for; it asks for an unlimited one. An answer that would approve
    another token, or do anything besides, is refused. Does not approve anything and hands out nothing to sign.
    """
    if ctx.golem.address is None:
        raise WalletNotConfigured("an approval belongs to a wallet, and this golem has none")
    reader = ctx.begin("Asking the service")
    meta = reader.token(token)
    body = {"walletAddress": ctx.golem.address, "token": name_token(meta), "amount": str(amount)}
    answer = ask(ctx, API, post_question("/check_approval", ApprovalAnswer, **body, chainId=reader.chain_id))
    made = answer.value.approval
    spender, allowed = None, None
    if made is not None:
        for field, told, wanted in (
            ("chain", made.chain_id, reader.chain_id),
            ("account", made.sender, ctx.golem.address),
            ("token", made.to, meta.address),
            ("coin", read_whole(made.value), 0),
        ):
            if told != wanted:
                raise ForeignAnswerUnfit(f"its approval is of another {field}: {told}, not {wanted}", field=field)
        spender, allowed = _read_approval(made.data)
    line = ApiApproval(
        token=meta,
        approved=made is None,
        spender=spender,
        spender_name={PERMIT2: "Permit2", None: ""}.get(spender, "unknown"),
        would_allow=str(allowed) if allowed is not None else None,
        is_unlimited=allowed is not None and allowed >= 2**160 - 1,
        needs_reset_first=answer.value.cancel is not None,
    )
    return ApiApprovals(line.approved, (line,), answer.source)


def _read_approval(data: str) -> tuple[str, int]:
    raw = bytes.fromhex(data[2:])
    try:
        if not calls(raw, _APPROVE):
            raise UnknownCall("another function")
        spender, amount = read_exactly(raw, _APPROVE)
    except UnknownCall as error:
        raise ForeignAnswerUnfit(f"its approval is none: {error}", field="function") from None
    return spender, amount


class ApiTransfer(Told):
    """What `uniswap_api_create_token_transfer` answers. `calldata` is never told: `transfer` sends, under a permit.

    `is_plain`: the service's transaction is this very transfer and nothing besides; else it is refused.
    """

    token: TokenMeta
    recipient: str
    amount: TokenAmount
    to: str
    value: str
    chain_id: int
    is_plain: bool
    gas_estimate: str | None
    gas_estimate_usd: ForeignText
    calldata: None
    calldata_reason: str
    source: OutsideSource


@uniswap_api.read(
    query="api_transfer",
    category=Category.WALLET,
    budget=TickBudget.SLOW,
    requires=(Requirement.WALLET,),
    snippet="api_transfer: what a transfer would cost by the Trading API, its calldata looked at and not handed out.",
    guidelines=("transfer sends, under a permit; this only asks what another would take for it.",),
)
def uniswap_api_create_token_transfer(
    ctx: ReadContext, token: Token, recipient: Address, amount: RawAmount
) -> ApiTransfer:
    """Ask the Trading API for the transaction of a transfer, and look at its bytes: the very transfer, or refused.

    Use to compare its gas estimate with a preview of transfer. `ETH` or the native address means the coin.
    Does not send, and hands out no bytes: what is signed elsewhere counts in no limit.
    """
    if ctx.golem.address is None:
        raise WalletNotConfigured("a transfer leaves a wallet, and this golem has none")
    reader = ctx.begin("Reading the token")
    meta = reader.token(token)
    ctx.step("Asking the service")
    answer = ask(
        ctx,
        API,
        post_question(
            "/send",
            SendAnswer,
            sender=ctx.golem.address,
            recipient=recipient,
            token=name_token(meta),
            amount=str(amount),
            chainId=reader.chain_id,
        ),
    )
    made, own = answer.value.send, erc20.transfer(token=meta, recipient=recipient, amount=amount)
    for field, told, wanted in (
        ("chain", made.chain_id, reader.chain_id),
        ("account", made.sender, ctx.golem.address),
        ("contract", made.to, own.to),
        ("coin", read_whole(made.value), own.value),
        ("calldata", made.data.lower(), "0x" + own.data.hex()),
    ):
        if told != wanted:
            raise ForeignAnswerUnfit(f"its transaction has another {field} than the transfer", field=field)
    return ApiTransfer(
        token=meta,
        recipient=recipient,
        amount=TokenAmount(amount, meta),
        to=made.to,
        value=str(own.value),
        chain_id=reader.chain_id,
        is_plain=True,
        gas_estimate=str(read_whole(made.gas_limit)) if made.gas_limit is not None else None,
        gas_estimate_usd=mark_foreign(str(answer.value.gas_fee_usd or ""), most=40),
        calldata=None,
        calldata_reason="bytes that are signed elsewhere count in no limit; ask for transfer instead",
        source=answer.source,
    )


class ApiDelegation(Told):
    """One chain: whether an account runs a contract's code (EIP-7702), and whose."""

    chain_id: int
    delegated: bool | None
    delegation_address: str | None
    message: str


class ApiDelegations(Told):
    """What `uniswap_api_check_wallet_delegation` answers."""

    delegations: tuple[ApiDelegation, ...]
    source: OutsideSource


@uniswap_api_anywhere.read(
    query="api_delegation",
    schema_version=2,
    category=Category.WALLET,
    budget=TickBudget.SLOW,
    requires=(Requirement.WALLET,),
    snippet="api_delegation: whether an account runs a contract's code on some chains, by the Trading API.",
    guidelines=("The account's own code on the chain decides; this is a hint for chains that are not read here.",),
)
def uniswap_api_check_wallet_delegation(
    ctx: ReadContext, chain_ids: ChainIds, wallet_address: Address | None = None
) -> ApiDelegations:
    """Ask the Trading API whether an account is delegated to a contract (EIP-7702), chain by chain.

    Use for chains this server does not read; without `wallet_address` it is the golem's own account. A chain the answer
    leaves out is unknown, not undelegated.
    Does not delegate and does not revoke.
    """
    account = wallet_address or ctx.golem.address
    if account is None:
        raise WalletNotConfigured("a delegation belongs to a wallet, and this golem has none; name a wallet_address")
    ctx.step("Asking the service")
    body = {"walletAddresses": [account], "chainIds": chain_ids}
    answer = ask(ctx, API, post_question("/wallet/check_delegation", DelegationAnswer, **body))
    told = {name.lower(): chains for name, chains in answer.value.wallets.items()}
    if set(told) - {account.lower()}:
        raise ForeignAnswerUnfit("it tells of another account than was asked about", field="account")
    chains = told.get(account.lower(), {})
    lines = []
    for one in chain_ids:
        found = chains.get(str(one))
        if found is None:
            lines.append(ApiDelegation(one, None, None, "the service says nothing of this chain"))
            continue
        lines.append(ApiDelegation(one, found.current is not None, found.current, ""))
    return ApiDelegations(tuple(lines), answer.source)


class ApiDestination(Told):
    """One place a token can be bridged to, as the service names it."""

    chain_id: int
    bridge_token: ForeignText
    bridge_token_address: str
    bridge_protocol: None


class ApiDestinations(Told):
    """What `uniswap_api_get_bridgeable_tokens` answers. The service does not name the bridge."""

    destinations: tuple[ApiDestination, ...]
    bridge_protocol_reason: str
    source: OutsideSource


@uniswap_api.read(
    query="api_bridgeable",
    category=Category.DATA,
    budget=TickBudget.SLOW,
    snippet=(
        "api_bridgeable: to which chains, and into which tokens there, the vendor's Trading API would bridge a token;"
        " a stranger's list."
    ),
    guidelines=("A list, and no quote: ask api_quote with token_out_chain_id for what would arrive.",),
)
def uniswap_api_get_bridgeable_tokens(ctx: ReadContext, token_in: Token) -> ApiDestinations:
    """List the chains and tokens to which the Trading API would bridge a token.

    Use to see where a way exists at all. Tokens are a stranger's list: the address counts, never the name.
    Does not quote and does not bridge.
    """
    reader = ctx.begin("Reading the token")
    meta = reader.token(token_in)
    ctx.step("Asking the service")
    query = (("tokenIn", name_token(meta)), ("tokenInChainId", str(reader.chain_id)))
    answer = ask(
        ctx, API, Question("GET", "/swappable_tokens", BridgeableTokens, query=query, headers=HEADERS, kept_seconds=900)
    )
    return ApiDestinations(
        tuple(
            ApiDestination(each.chain_id, mark_foreign(each.symbol, most=40), each.address, None)
            for each in answer.value.tokens[:_MOST_PLACES]
        ),
        "the service does not name the bridge",
        answer.source,
    )
