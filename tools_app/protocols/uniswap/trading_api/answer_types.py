"""The shapes of the Trading API's answers, as its maker published them in August 2026; what is not named is let go."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from tools_app.toolkit.params import check_address


def _as_text(value: object) -> object:
    """Whole numbers are written as digits or as numbers; a fraction, a sign or an exponent is neither."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Whole = Annotated[
    str, BeforeValidator(_as_text), Field(pattern=r"^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$"), AfterValidator(str)
]
"""Base units or wei, as decimal or hexadecimal digits."""
Account = Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{40}$"), AfterValidator(check_address)]
Hash = Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{64}$")]
Bytes = Annotated[str, Field(pattern=r"^0x([0-9a-fA-F]{2})*$", max_length=200_002)]


def read_whole(text: str) -> int:
    """The number of a `Whole`."""
    return int(text, 16) if text.startswith("0x") else int(text)


class AnswerShape(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class AnsweredTransaction(AnswerShape):
    """A transaction somebody else made."""

    to: Account
    sender: Account = Field(alias="from")
    data: Bytes
    value: Whole
    chain_id: int = Field(alias="chainId")
    gas_limit: Whole | None = Field(default=None, alias="gasLimit")


# ---- Quotes --------------------------------------------------------------------------------------------------------


class QuoteSide(AnswerShape):
    amount: Whole
    token: Account
    recipient: Account | None = None


class ClassicQuote(AnswerShape):
    """What a quote over pools says; an order's has other members."""

    input: QuoteSide | None = None
    output: QuoteSide | None = None
    swapper: Account | None = None
    chain_id: int | None = Field(default=None, alias="chainId")
    slippage: float | None = None
    trade_type: str | None = Field(default=None, alias="tradeType")
    route_text: str | None = Field(default=None, alias="routeString")
    quote_id: str | None = Field(default=None, alias="quoteId")
    gas_use: Whole | None = Field(default=None, alias="gasUseEstimate")
    gas_fee_usd: str | float | None = Field(default=None, alias="gasFeeUSD")
    block: Whole | None = Field(default=None, alias="blockNumber")
    price_impact: float | None = Field(default=None, alias="priceImpact")
    portion_bips: int | None = Field(default=None, alias="portionBips")
    portion_recipient: Account | None = Field(default=None, alias="portionRecipient")
    would_fail: list[str] = Field(default_factory=list, alias="txFailureReasons")
    order_id: str | None = Field(default=None, alias="orderId")
    encoded_order: Bytes | None = Field(default=None, alias="encodedOrder")
    order_info: dict[str, Any] | None = Field(default=None, alias="orderInfo")  # Any: a stranger's JSON


class QuoteAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    routing: str
    quote: ClassicQuote
    permit_data: dict[str, Any] | None = Field(default=None, alias="permitData")  # Any: a stranger's JSON


class QuoteToSendBack(AnswerShape):
    """The same for who sends the quote back: it must be the very object that came."""

    request_id: str = Field(alias="requestId")
    routing: str
    quote: dict[str, Any]  # Any: a stranger's JSON


# ---- Swaps ---------------------------------------------------------------------------------------------------------


class SwapAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    swap: AnsweredTransaction


class BundledCall(AnswerShape):
    to: Account
    data: Bytes
    value: Whole


class BundleAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    sender: Account = Field(alias="from")
    chain_id: int = Field(alias="chainId")
    calls: list[BundledCall] = Field(min_length=1, max_length=10)


# ---- Approvals -----------------------------------------------------------------------------------------------------


class ApprovalAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    approval: AnsweredTransaction | None
    cancel: AnsweredTransaction | None


# ---- Orders and what became of swaps -------------------------------------------------------------------------------


class OrderAmount(AnswerShape):
    token: Account
    start_amount: Whole | None = Field(default=None, alias="startAmount")
    end_amount: Whole | None = Field(default=None, alias="endAmount")
    recipient: Account | None = None


class AnsweredSettlement(AnswerShape):
    token_out: Account | None = Field(default=None, alias="tokenOut")
    amount_out: Whole | None = Field(default=None, alias="amountOut")
    token_in: Account | None = Field(default=None, alias="tokenIn")
    amount_in: Whole | None = Field(default=None, alias="amountIn")


class ListedOrder(AnswerShape):
    kind: str = Field(alias="type")
    status: str = Field(alias="orderStatus")
    order_id: str = Field(alias="orderId")
    chain_id: int = Field(alias="chainId")
    swapper: Account | None = None
    nonce: Whole
    tx_hash: str | None = Field(default=None, alias="txHash")
    input: OrderAmount | None = None
    outputs: list[OrderAmount] = Field(default_factory=list)
    settled: list[AnsweredSettlement] = Field(default_factory=list, alias="settledAmounts")


class AnsweredOrders(AnswerShape):
    request_id: str = Field(alias="requestId")
    orders: list[ListedOrder] = Field(max_length=100)
    cursor: str | None = None


class SwapState(AnswerShape):
    status: str
    tx_hash: str = Field(alias="txHash")
    kind: str | None = Field(default=None, alias="swapType")


class SwapStates(AnswerShape):
    swaps: list[SwapState] = Field(max_length=100)


# ---- Pools, sending, delegation ------------------------------------------------------------------------------------


class AnsweredPool(AnswerShape):
    reference: str = Field(alias="poolReferenceIdentifier")
    protocol: str | list[str] = Field(alias="poolProtocol")
    token_a: Account = Field(alias="tokenAddressA")
    token_b: Account = Field(alias="tokenAddressB")
    tick_spacing: int | None = Field(default=None, alias="tickSpacing")
    fee: Whole | None = None
    hooks: Account | None = Field(default=None, alias="hookAddress")
    chain_id: int = Field(alias="chainId")
    liquidity: Whole | None = Field(default=None, alias="poolLiquidity")
    sqrt_price: Whole | None = Field(default=None, alias="sqrtRatioX96")
    tick: int | None = Field(default=None, alias="currentTick")
    reserves_a: Whole | None = Field(default=None, alias="tokenAReserves")
    reserves_b: Whole | None = Field(default=None, alias="tokenBReserves")


class Pools(AnswerShape):
    request_id: str = Field(alias="requestId")
    pools: list[AnsweredPool] = Field(max_length=100)


class SendAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    send: AnsweredTransaction
    gas_fee_usd: str | float | None = Field(default=None, alias="gasFeeUSD")


class BridgeableToken(AnswerShape):
    address: Account
    chain_id: int = Field(alias="chainId")
    symbol: str
    project: Any = None  # Any: a stranger's JSON


class BridgeableTokens(AnswerShape):
    request_id: str | None = Field(default=None, alias="requestId")
    tokens: list[BridgeableToken] = Field(max_length=500)


# ---- Liquidity -----------------------------------------------------------------------------------------------------


class TokenShare(AnswerShape):
    token: Account = Field(alias="tokenAddress")
    amount: Whole


class CreateAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    token0: TokenShare | None = None
    token1: TokenShare | None = None
    tick_lower: int | None = Field(default=None, alias="tickLower")
    tick_upper: int | None = Field(default=None, alias="tickUpper")
    create: AnsweredTransaction


class IncreaseAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    increase: AnsweredTransaction


class DecreaseAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    decrease: AnsweredTransaction


class ClaimAnswer(AnswerShape):
    request_id: str = Field(alias="requestId")
    claim: AnsweredTransaction


# ---- Delegation ----------------------------------------------------------------------------------------------------


class ChainDelegation(AnswerShape):
    is_the_vendors: bool = Field(default=False, alias="isWalletDelegatedToUniswap")
    current: Account | None = Field(default=None, alias="currentDelegationAddress")


def _unwrap_chains(value: object) -> object:
    """Its two descriptions differ: chains by their number, or the same inside `chains`."""
    return value["chains"] if isinstance(value, dict) and set(value) == {"chains"} else value


class DelegationAnswer(AnswerShape):
    request_id: str | None = Field(default=None, alias="requestId")
    wallets: dict[str, Annotated[dict[str, ChainDelegation], BeforeValidator(_unwrap_chains)]] = Field(
        alias="delegationDetails", max_length=10
    )
