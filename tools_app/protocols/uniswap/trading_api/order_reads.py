"""Orders at the Trading API, what a limit order would be, and what became of swaps."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap.trading_api.answer_types import (
    AnsweredOrders,
    ListedOrder,
    QuoteAnswer,
    SwapStates,
)
from tools_app.protocols.uniswap.trading_api.api_family import API, HEADERS, uniswap_api, uniswap_api_anywhere
from tools_app.protocols.uniswap.trading_api.errors import ForeignAnswerUnfit
from tools_app.protocols.uniswap.trading_api.quote_reads import check_quote
from tools_app.protocols.uniswap.trading_api.requests import name_token, post_question
from tools_app.select_tool_for_venue import WalletNotConfigured
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import Requirement, TickBudget
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.outside_services import OutsideSource, Question, ask
from tools_app.toolkit.params import (
    Bytes32,
    DecimalText,
    Flag,
    Limit,
    OrderStatus,
    RawAmount,
    Token,
    TransactionHashes,
)
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

_STATES: Final = frozenset({"PENDING", "SUCCESS", "NOT_FOUND", "FAILED", "EXPIRED"})


class ApiOrder(Told):
    """One order as the service lists it."""

    order_id: ForeignText
    order_type: ForeignText
    status: str
    chain_id: int
    tx_hash: ForeignText
    input_token: str | None
    input_amount: str | None
    outputs: tuple[dict[str, str | None], ...]
    settled: tuple[dict[str, str | None], ...]


class ApiOrders(Told):
    """What `uniswap_api_get_orders` answers: orders of the golem's own account alone."""

    orders: tuple[ApiOrder, ...]
    cursor: ForeignText
    source: OutsideSource


@uniswap_api_anywhere.read(
    query="api_orders",
    budget=TickBudget.SLOW,
    requires=(Requirement.WALLET,),
    snippet="api_orders: orders of the golem's own account as the Trading API lists them, by status.",
    guidelines=("The chain decides what was filled; look at the wallet and not at this list.",),
)
def uniswap_api_get_orders(
    ctx: ReadContext,
    order_status: OrderStatus | None = None,
    order_id: Bytes32 | None = None,
    limit: Limit = 10,
) -> ApiOrders:
    """List orders of the golem's account at the Trading API.

    Use to see what the vendor knows of them. An order of another account in the answer refuses the whole of it.
    Does not cancel and does not say what was filled: only the chain does.
    """
    if ctx.golem.address is None:
        raise WalletNotConfigured("orders belong to a wallet, and this golem has none")
    ctx.step("Asking the service")
    wanted = {"swapper": ctx.golem.address, "limit": str(limit), "orderStatus": order_status, "orderId": order_id}
    query = tuple((name, value) for name, value in wanted.items() if value is not None)
    answer = ask(ctx, API, Question("GET", "/orders", AnsweredOrders, query=query, headers=HEADERS, seconds=6.0))
    for order in answer.value.orders:
        if order.swapper is not None and order.swapper != ctx.golem.address:
            raise ForeignAnswerUnfit(f"it lists an order of {order.swapper}", field="swapper")
        if order_id is not None and order.order_id.lower() != order_id:
            raise ForeignAnswerUnfit("it lists another order than was asked about", field="order_id")
    return ApiOrders(
        tuple(_tell_order(each) for each in answer.value.orders[:limit]),
        mark_foreign(answer.value.cursor, most=200),
        answer.source,
    )


def _tell_order(order: ListedOrder) -> ApiOrder:
    return ApiOrder(
        order_id=mark_foreign(order.order_id, most=66),
        order_type=mark_foreign(order.kind, most=40),
        status=mark_foreign(order.status, most=40).value,
        chain_id=order.chain_id,
        tx_hash=mark_foreign(order.tx_hash, most=66),
        input_token=order.input.token if order.input else None,
        input_amount=order.input.start_amount if order.input else None,
        outputs=tuple(
            {"token": each.token, "start_amount": each.start_amount, "end_amount": each.end_amount}
            for each in order.outputs[:8]
        ),
        settled=tuple({"token": each.token_out, "amount": each.amount_out} for each in order.settled[:8]),
    )


class ApiSwap(Told):
    """One transaction as the service sees it."""

    tx_hash: str
    status: str
    details: ForeignText


class ApiSwaps(Told):
    """What `uniswap_api_check_swap_status` answers, in the order of the question; the chain itself decides."""

    swaps: tuple[ApiSwap, ...]
    source: OutsideSource


@uniswap_api.read(
    query="api_swap_status",
    budget=TickBudget.SLOW,
    snippet="api_swap_status: PENDING, SUCCESS, FAILED, EXPIRED or NOT_FOUND of swaps by hash, by the Trading API.",
    guidelines=("A permit's own outcome is read from receipts; this is for transactions of others.",),
)
def uniswap_api_check_swap_status(ctx: ReadContext, transaction_hashes: TransactionHashes) -> ApiSwaps:
    """Ask the Trading API what became of swaps or bridges, by the hashes of their transactions.

    Use for transactions this server did not send. A hash the answer leaves out is NOT_FOUND; one that was not asked
    about refuses it. Does not read receipts: a permit's own outcome does.
    """
    wanted = ctx.chain_id
    ctx.step("Asking the service")
    query = (("txHashes", ",".join(transaction_hashes)), ("chainId", str(wanted)))
    answer = ask(ctx, API, Question("GET", "/swaps", SwapStates, query=query, headers=HEADERS, seconds=6.0))
    found = {}
    for each in answer.value.swaps:
        if each.tx_hash.lower() not in transaction_hashes:
            raise ForeignAnswerUnfit("it tells of a transaction that was not asked about", field="tx_hash")
        if each.status not in _STATES:
            raise ForeignAnswerUnfit("it names a state that its maker does not publish", field="status")
        found[each.tx_hash.lower()] = each
    return ApiSwaps(
        tuple(
            ApiSwap(
                one,
                found[one].status if one in found else "NOT_FOUND",
                mark_foreign(found[one].kind if one in found else None, most=40),
            )
            for one in transaction_hashes
        ),
        answer.source,
    )


class ApiLimitQuote(Told):
    """What `uniswap_api_get_limit_order_quote` answers: what such an order would give and take, as the service says."""

    token_in: TokenMeta
    token_out: TokenMeta
    amount_in: TokenAmount
    limit_price: str
    routing_type: str
    order_id: ForeignText
    deadline: int | None
    source: OutsideSource


@uniswap_api.read(
    query="api_limit_quote",
    budget=TickBudget.SLOW,
    requires=(Requirement.WALLET,),
    snippet=(
        "api_limit_quote: whether the vendor's Trading API would take a limit order of the golem at a price, and when"
        " it would end."
    ),
    guidelines=("An order outlives a halt until its nonce is used: place one only with a near end.",),
)
def uniswap_api_get_limit_order_quote(
    ctx: ReadContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    limit_price: DecimalText,
    exact_output: Flag = False,
) -> ApiLimitQuote:
    """Quote a limit order by the Trading API: `limit_price` is units of token_out for one of token_in.

    Use to see whether the vendor would list it. An answer for another account or token is refused.
    Does not place an order and hands out nothing to sign.
    """
    if ctx.golem.address is None:
        raise WalletNotConfigured("an order belongs to a wallet, and this golem has none")
    reader = ctx.begin("Reading tokens")
    sold, bought = reader.token(token_in), reader.token(token_out)
    ctx.step("Asking the service")
    answer = ask(
        ctx,
        API,
        post_question(
            "/limit_order_quote",
            QuoteAnswer,
            swapper=ctx.golem.address,
            type="EXACT_OUTPUT" if exact_output else "EXACT_INPUT",
            amount=str(amount),
            tokenIn=name_token(sold),
            tokenOut=name_token(bought),
            tokenInChainId=reader.chain_id,
            tokenOutChainId=reader.chain_id,
            limitPrice=limit_price,
        ),
    )
    if answer.value.routing != "LIMIT_ORDER":
        raise ForeignAnswerUnfit("it is no limit order", field="routing")
    info = answer.value.quote.order_info or {}
    check_quote(
        answer.value,
        sold=sold,
        bought=bought,
        amount=amount,
        is_exact_out=exact_output,
        chain_id=reader.chain_id,
        swapper=ctx.golem.address,
    )
    _check_order(info, swapper=ctx.golem.address, chain_id=reader.chain_id, sold=sold, bought=bought)
    deadline = info.get("deadline")
    return ApiLimitQuote(
        token_in=sold,
        token_out=bought,
        amount_in=TokenAmount(amount, bought if exact_output else sold),
        limit_price=limit_price,
        routing_type=answer.value.routing,
        order_id=mark_foreign(answer.value.quote.order_id, most=66),
        deadline=deadline if isinstance(deadline, int) and not isinstance(deadline, bool) else None,
        source=answer.source,
    )


def _check_order(info: dict[str, object], *, swapper: str, chain_id: int, sold: TokenMeta, bought: TokenMeta) -> None:
    """That an order's own words are of what was asked. Raises ForeignAnswerUnfit."""
    given = info.get("input")
    outputs = info.get("outputs")
    told = {
        "swapper": info.get("swapper"),
        "chain": info.get("chainId"),
        "token_in": given.get("token") if isinstance(given, dict) else None,
    }
    wanted = {"swapper": swapper, "chain": chain_id, "token_in": name_token(sold)}
    for field, value in told.items():
        if value is not None and str(value).lower() != str(wanted[field]).lower():
            raise ForeignAnswerUnfit(f"its order is of another {field}", field=field)
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict):
            raise ForeignAnswerUnfit("its order has an output that is none", field="outputs")
        if str(output.get("token", name_token(bought))).lower() != name_token(bought).lower():
            raise ForeignAnswerUnfit("its order pays another token", field="token_out")
        if str(output.get("recipient", swapper)).lower() != swapper.lower():
            raise ForeignAnswerUnfit("its order pays somebody else", field="recipient")
