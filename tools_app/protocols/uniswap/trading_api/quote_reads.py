"""Quotes of the Trading API: a stranger's figures, of what was asked for or refused."""

from __future__ import annotations

from typing import Final

from tools_app.core.ratio import bps_as_percent
from tools_app.protocols.uniswap.tools.quotes import effective_price
from tools_app.protocols.uniswap.trading_api.answer_types import (
    ClassicQuote,
    QuoteAnswer,
    read_whole,
)
from tools_app.protocols.uniswap.trading_api.api_family import API, HEADERS, uniswap_api
from tools_app.protocols.uniswap.trading_api.errors import ForeignAnswerUnfit
from tools_app.protocols.uniswap.trading_api.requests import check_chain, name_token
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.foreign_text import ForeignText, mark_foreign
from tools_app.toolkit.outside_services import OutsideSource, Question, ask
from tools_app.toolkit.params import (
    ChainId,
    Flag,
    RawAmount,
    SlippageBps,
    Token,
)
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta

NOBODY: Final = "0x000000000000000000000000000000000000dEaD"
"""Whom a quote is for where the golem has no wallet."""
_ROUTINGS: Final = frozenset(
    {"CLASSIC", "DUTCH_LIMIT", "DUTCH_V2", "DUTCH_V3", "BRIDGE", "LIMIT_ORDER", "PRIORITY", "WRAP", "UNWRAP", "CHAINED"}
)
_LONG: Final = 400


class ApiQuote(Told):
    """What `uniswap_api_get_quote` answers. Amounts are the service's words; nothing of it is signed or promised.

    An order's quote names no amount that comes out: it is null, and `amount_out_reason` says so. `permit_data` and
    `valid_until` are never told: this server signs no typed data of a stranger, and the service dates no quote.
    """

    quote_id: ForeignText
    token_in: TokenMeta
    token_out: TokenMeta
    token_in_chain_id: int
    token_out_chain_id: int
    amount_in: TokenAmount | None
    amount_out: TokenAmount | None
    amount_out_reason: str
    effective_price: str | None
    price_impact: str | None
    gas_estimate: str | None
    gas_estimate_usd: ForeignText
    routing_type: str
    route: ForeignText
    block_number: str | None
    would_fail: tuple[ForeignText, ...]
    permit_data: None
    permit_data_reason: str
    valid_until: None
    valid_until_reason: str
    source: OutsideSource


@uniswap_api.read(
    query="api_quote",
    budget=TickBudget.SLOW,
    snippet=(
        "api_quote: what the vendor's Trading API would give for a swap, over all versions and order kinds; a"
        " stranger's figure, to set beside quote."
    ),
    guidelines=("Set it beside quote; a difference of more than 100 basis points is a reason to wait.",),
)
def uniswap_api_get_quote(
    ctx: ReadContext,
    token_in: Token,
    token_out: Token,
    amount: RawAmount,
    token_out_chain_id: ChainId | None = None,
    slippage_bps: SlippageBps = 50,
    exact_output: Flag = False,
) -> ApiQuote:
    """Quote a swap by the Trading API, over pools of every version and over orders.

    Use to compare with uniswap_get_quote, which reads the chain. `amount` goes in, or must come out with
    `exact_output`. An answer about another token, amount, chain or account is refused, and so is one that pays a part
    to somebody. Does not execute, and hands out nothing to sign.
    """
    reader = ctx.begin("Reading tokens")
    far = token_out_chain_id if token_out_chain_id is not None else reader.chain_id
    check_chain(far)
    sold = reader.token(token_in)
    bought = (reader if far == reader.chain_id else ctx.chain(far)).token(token_out)
    ctx.step("Asking the service")
    swapper = ctx.golem.address or NOBODY
    answer = ask(
        ctx,
        API,
        Question(
            "POST",
            "/quote",
            QuoteAnswer,
            body={
                "type": "EXACT_OUTPUT" if exact_output else "EXACT_INPUT",
                "amount": str(amount),
                "tokenIn": name_token(sold),
                "tokenOut": name_token(bought),
                "tokenInChainId": reader.chain_id,
                "tokenOutChainId": far,
                "swapper": swapper,
                "slippageTolerance": slippage_bps / 100,
                "routingPreference": "BEST_PRICE",
            },
            headers=HEADERS,
            seconds=8.0,
        ),
    )
    found = answer.value.quote
    check_quote(
        answer.value,
        sold=sold,
        bought=bought,
        amount=amount,
        is_exact_out=exact_output,
        chain_id=reader.chain_id,
        swapper=swapper,
    )
    gives = TokenAmount(read_whole(found.input.amount), sold) if found.input is not None else None
    gets = TokenAmount(read_whole(found.output.amount), bought) if found.output is not None else None
    return ApiQuote(
        quote_id=mark_foreign(found.quote_id or answer.value.request_id, most=80),
        token_in=sold,
        token_out=bought,
        token_in_chain_id=reader.chain_id,
        token_out_chain_id=far,
        amount_in=gives,
        amount_out=gets,
        amount_out_reason="" if gets is not None else "the quote of an order names no amount that comes out",
        effective_price=effective_price(gives.raw, gets.raw, sold, bought) if gives and gets else None,
        price_impact=str(found.price_impact) if found.price_impact is not None else None,
        gas_estimate=str(read_whole(found.gas_use)) if found.gas_use is not None else None,
        gas_estimate_usd=mark_foreign(str(found.gas_fee_usd or ""), most=40),
        routing_type=answer.value.routing,
        route=mark_foreign(found.route_text, most=_LONG),
        block_number=str(read_whole(found.block)) if found.block is not None else None,
        would_fail=tuple(mark_foreign(each, most=60) for each in found.would_fail[:8]),
        permit_data=None,
        permit_data_reason="typed data of a stranger is signed by nobody here",
        valid_until=None,
        valid_until_reason="the service dates no quote; ask again before acting",
        source=answer.source,
    )


def check_quote(
    answer: QuoteAnswer,
    *,
    sold: TokenMeta,
    bought: TokenMeta,
    amount: int,
    is_exact_out: bool,
    chain_id: int,
    swapper: str,
) -> None:
    """That a quote is of what was asked for, and pays nobody besides. Raises ForeignAnswerUnfit."""
    if answer.routing not in _ROUTINGS:
        raise ForeignAnswerUnfit("it names a kind of routing that its maker does not publish", field="routing")
    found: ClassicQuote = answer.quote
    for field, told, wanted in (
        ("swapper", found.swapper, swapper),
        ("chain", found.chain_id, chain_id),
        ("token_in", found.input.token if found.input else None, name_token(sold)),
        ("token_out", found.output.token if found.output else None, name_token(bought)),
        ("recipient", found.output.recipient if found.output else None, swapper),
    ):
        if told is not None and told != wanted:
            raise ForeignAnswerUnfit(f"it is about another {field}: {told}, not {wanted}", field=field)
    fixed = found.output if is_exact_out else found.input
    if fixed is not None and read_whole(fixed.amount) != amount:
        raise ForeignAnswerUnfit(f"it is about {fixed.amount}, and {amount} was asked for", field="amount")
    if found.portion_bips:
        raise ForeignAnswerUnfit(
            f"it pays {bps_as_percent(found.portion_bips)}% to {found.portion_recipient}", field="portion"
        )
