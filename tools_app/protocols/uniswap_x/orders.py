"""The four kinds of orders: how each is typed, what the worst of it is, and how it is encoded for its reactor.

Types as in the reactors' sources (Uniswap/UniswapX) and the package's ABIs. An order is typed data for Permit2, whose
witness is the order itself; who co-signs it may only improve what it brings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_args
from tools_app.chain.abi_records import Fields, TypedStruct
from tools_app.chain.typed_hash import hash_struct
from tools_app.protocols.uniswap_x.addresses import DUTCH_V2, DUTCH_V3, LIMIT, PRIORITY
from tools_app.standards.auctions import Decaying
from tools_app.standards.permit2 import domain_of
from tools_app.standards.signed_order_tracking import WITNESSED, list_witnessed, read_witness
from tools_app.toolkit.typed_data import TypedData

ZERO: Final = "0x" + "0" * 40

_INFO: Final[Fields] = (
    ("reactor", "address"),
    ("swapper", "address"),
    ("nonce", "uint256"),
    ("deadline", "uint256"),
    ("additionalValidationContract", "address"),
    ("additionalValidationData", "bytes"),
)
_OUTPUT: Final[Fields] = (
    ("token", "address"),
    ("startAmount", "uint256"),
    ("endAmount", "uint256"),
    ("recipient", "address"),
)
_CURVE: Final[Fields] = (("relativeBlocks", "uint256"), ("relativeAmounts", "int256[]"))
_INFO_ABI: Final = "(address,address,uint256,uint256,address,bytes)"
_OUTPUTS_ABI: Final = "(address,uint256,uint256,address)[]"
_CURVE_ABI: Final = "(uint256,int256[])"


@dataclass(frozen=True, slots=True)
class Side:
    """What an order gives or brings, and who gets it (empty for what it gives)."""

    amount: Decaying
    recipient: str = ""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of an order."""

    gives: Side
    brings: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class OrderInfo:
    """What every order says of itself: its reactor, its maker, its nonce and its end in Unix seconds."""

    reactor: str
    swapper: str
    nonce: int
    deadline: int
    additional_validation_contract: str
    additional_validation_data: str

    @property
    def values(self) -> tuple[object, ...]:
        """As its reactor takes it."""
        data = bytes.fromhex(self.additional_validation_data[2:])
        return (
            self.reactor,
            self.swapper,
            self.nonce,
            self.deadline,
            self.additional_validation_contract,
            data,
        )


@dataclass(frozen=True, slots=True)
class OpenedOrder:
    """An order that was read: `values` are those of its encoding."""

    info: OrderInfo
    sides: Sides
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class OrderKind:
    """A kind of order. `key` names its reactor, `wire` the order's type for its desk, `struct` its type.

    `structs` are its types beside those of all orders, `open` reads its message, `abi` is its encoding.
    `is_cosigned` orders are filled only with a signature of their cosigner.
    """

    key: str
    wire: str
    struct: str
    structs: Mapping[str, Fields]
    open: Callable[[Mapping[str, object]], OpenedOrder]
    abi: str
    is_cosigned: bool = True

    @property
    def types(self) -> dict[str, Fields]:
        """Every struct of what is signed."""
        return list_witnessed(self.struct, self.structs)


@dataclass(frozen=True, slots=True)
class _DutchOutput:
    token: str
    start_amount: int
    end_amount: int
    recipient: str

    @property
    def side(self) -> Side:
        return Side(Decaying(self.token, self.start_amount, self.end_amount), self.recipient)

    @property
    def values(self) -> tuple[object, ...]:
        return self.token, self.start_amount, self.end_amount, self.recipient


@dataclass(frozen=True, slots=True)
class _LimitOrder:
    info: OrderInfo
    decay_start_time: int
    decay_end_time: int
    exclusive_filler: str
    exclusivity_override_bps: int
    input_token: str
    input_start_amount: int
    input_end_amount: int
    outputs: tuple[_DutchOutput, ...]


@dataclass(frozen=True, slots=True)
class _V2Order:
    info: OrderInfo
    cosigner: str
    base_input_token: str
    base_input_start_amount: int
    base_input_end_amount: int
    base_outputs: tuple[_DutchOutput, ...]


@dataclass(frozen=True, slots=True)
class _Curve:
    relative_blocks: int
    relative_amounts: tuple[int, ...]

    @property
    def values(self) -> tuple[object, ...]:
        return self.relative_blocks, list(self.relative_amounts)


@dataclass(frozen=True, slots=True)
class _V3Input:
    token: str
    start_amount: int
    curve: _Curve
    max_amount: int
    adjustment_per_gwei_base_fee: int


@dataclass(frozen=True, slots=True)
class _V3Output:
    token: str
    start_amount: int
    curve: _Curve
    recipient: str
    min_amount: int
    adjustment_per_gwei_base_fee: int


@dataclass(frozen=True, slots=True)
class _V3Order:
    info: OrderInfo
    cosigner: str
    starting_base_fee: int
    base_input: _V3Input
    base_outputs: tuple[_V3Output, ...]


@dataclass(frozen=True, slots=True)
class _PriorityInput:
    token: str
    amount: int
    mps_per_priority_fee_wei: int


@dataclass(frozen=True, slots=True)
class _PriorityOutput:
    token: str
    amount: int
    mps_per_priority_fee_wei: int
    recipient: str


@dataclass(frozen=True, slots=True)
class _PriorityOrder:
    info: OrderInfo
    cosigner: str
    auction_start_block: int
    baseline_priority_fee_wei: int
    input: _PriorityInput
    outputs: tuple[_PriorityOutput, ...]


_LIMIT: Final[Mapping[str, Fields]] = {
    "ExclusiveDutchOrder": (
        ("info", "OrderInfo"),
        ("decayStartTime", "uint256"),
        ("decayEndTime", "uint256"),
        ("exclusiveFiller", "address"),
        ("exclusivityOverrideBps", "uint256"),
        ("inputToken", "address"),
        ("inputStartAmount", "uint256"),
        ("inputEndAmount", "uint256"),
        ("outputs", "DutchOutput[]"),
    ),
    "DutchOutput": _OUTPUT,
}
_V2: Final[Mapping[str, Fields]] = {
    "V2DutchOrder": (
        ("info", "OrderInfo"),
        ("cosigner", "address"),
        ("baseInputToken", "address"),
        ("baseInputStartAmount", "uint256"),
        ("baseInputEndAmount", "uint256"),
        ("baseOutputs", "DutchOutput[]"),
    ),
    "DutchOutput": _OUTPUT,
}
_V3: Final[Mapping[str, Fields]] = {
    "V3DutchOrder": (
        ("info", "OrderInfo"),
        ("cosigner", "address"),
        ("startingBaseFee", "uint256"),
        ("baseInput", "V3DutchInput"),
        ("baseOutputs", "V3DutchOutput[]"),
    ),
    "V3DutchInput": (
        ("token", "address"),
        ("startAmount", "uint256"),
        ("curve", "NonlinearDutchDecay"),
        ("maxAmount", "uint256"),
        ("adjustmentPerGweiBaseFee", "uint256"),
    ),
    "V3DutchOutput": (
        ("token", "address"),
        ("startAmount", "uint256"),
        ("curve", "NonlinearDutchDecay"),
        ("recipient", "address"),
        ("minAmount", "uint256"),
        ("adjustmentPerGweiBaseFee", "uint256"),
    ),
    "NonlinearDutchDecay": _CURVE,
}
_PRIORITY: Final[Mapping[str, Fields]] = {
    "PriorityOrder": (
        ("info", "OrderInfo"),
        ("cosigner", "address"),
        ("auctionStartBlock", "uint256"),
        ("baselinePriorityFeeWei", "uint256"),
        ("input", "PriorityInput"),
        ("outputs", "PriorityOutput[]"),
    ),
    "PriorityInput": (("token", "address"), ("amount", "uint256"), ("mpsPerPriorityFeeWei", "uint256")),
    "PriorityOutput": (
        ("token", "address"),
        ("amount", "uint256"),
        ("mpsPerPriorityFeeWei", "uint256"),
        ("recipient", "address"),
    ),
}
_ALL: Final[Mapping[str, Fields]] = {"OrderInfo": _INFO}
_LIMITS: Final = TypedStruct({**_ALL, **_LIMIT}, "ExclusiveDutchOrder", _LimitOrder)
_V2_ORDERS: Final = TypedStruct({**_ALL, **_V2}, "V2DutchOrder", _V2Order)
_V3_ORDERS: Final = TypedStruct({**_ALL, **_V3}, "V3DutchOrder", _V3Order)
_PRIORITIES: Final = TypedStruct({**_ALL, **_PRIORITY}, "PriorityOrder", _PriorityOrder)


def _open_limit(message: Mapping[str, object]) -> OpenedOrder:
    order = _LIMITS.read(message)
    given = (order.input_token, order.input_start_amount, order.input_end_amount)
    return OpenedOrder(
        order.info,
        Sides(Side(Decaying(*given)), tuple(each.side for each in order.outputs)),
        (
            order.info.values,
            order.decay_start_time,
            order.decay_end_time,
            order.exclusive_filler,
            order.exclusivity_override_bps,
            given,
            [each.values for each in order.outputs],
        ),
    )


def _open_v2(message: Mapping[str, object]) -> OpenedOrder:
    order = _V2_ORDERS.read(message)
    given = (order.base_input_token, order.base_input_start_amount, order.base_input_end_amount)
    return OpenedOrder(
        order.info,
        Sides(Side(Decaying(*given)), tuple(each.side for each in order.base_outputs)),
        (
            order.info.values,
            order.cosigner,
            given,
            [each.values for each in order.base_outputs],
            (0, 0, ZERO, 0, 0, []),
            b"",
        ),
    )


def _open_v3(message: Mapping[str, object]) -> OpenedOrder:
    order = _V3_ORDERS.read(message)
    given = order.base_input
    # Whatever its curve and the base fee do to it, the reactor keeps it within these.
    sides = Sides(
        Side(Decaying(given.token, given.start_amount, given.max_amount)),
        tuple(
            Side(Decaying(each.token, each.start_amount, each.min_amount), each.recipient)
            for each in order.base_outputs
        ),
    )
    outputs = [
        (
            each.token,
            each.start_amount,
            each.curve.values,
            each.recipient,
            each.min_amount,
            each.adjustment_per_gwei_base_fee,
        )
        for each in order.base_outputs
    ]
    taken = (
        given.token,
        given.start_amount,
        given.curve.values,
        given.max_amount,
        given.adjustment_per_gwei_base_fee,
    )
    return OpenedOrder(
        order.info,
        sides,
        (order.info.values, order.cosigner, order.starting_base_fee, taken, outputs, (0, ZERO, 0, 0, []), b""),
    )


def _open_priority(message: Mapping[str, object]) -> OpenedOrder:
    order = _PRIORITIES.read(message)
    given = order.input
    # A filler's priority fee makes the output more or the input less.
    sides = Sides(
        Side(Decaying(given.token, given.amount, given.amount)),
        tuple(Side(Decaying(each.token, each.amount, each.amount), each.recipient) for each in order.outputs),
    )
    outputs = [(each.token, each.amount, each.mps_per_priority_fee_wei, each.recipient) for each in order.outputs]
    return OpenedOrder(
        order.info,
        sides,
        (
            order.info.values,
            order.cosigner,
            order.auction_start_block,
            order.baseline_priority_fee_wei,
            (given.token, given.amount, given.mps_per_priority_fee_wei),
            outputs,
            (0,),
            b"",
        ),
    )


KINDS: Final[Mapping[str, OrderKind]] = {
    LIMIT: OrderKind(
        LIMIT,
        "Limit",
        "ExclusiveDutchOrder",
        {**_ALL, **_LIMIT},
        _open_limit,
        f"({_INFO_ABI},uint256,uint256,address,uint256,(address,uint256,uint256),{_OUTPUTS_ABI})",
        is_cosigned=False,
    ),
    DUTCH_V2: OrderKind(
        DUTCH_V2,
        "Dutch_V2",
        "V2DutchOrder",
        {**_ALL, **_V2},
        _open_v2,
        f"({_INFO_ABI},address,(address,uint256,uint256),{_OUTPUTS_ABI},"
        "(uint256,uint256,address,uint256,uint256,uint256[]),bytes)",
    ),
    DUTCH_V3: OrderKind(
        DUTCH_V3,
        "Dutch_V3",
        "V3DutchOrder",
        {**_ALL, **_V3},
        _open_v3,
        f"({_INFO_ABI},address,uint256,(address,uint256,{_CURVE_ABI},uint256,uint256),"
        f"(address,uint256,{_CURVE_ABI},address,uint256,uint256)[],(uint256,address,uint256,uint256,uint256[]),bytes)",
    ),
    PRIORITY: OrderKind(
        PRIORITY,
        "Priority",
        "PriorityOrder",
        {**_ALL, **_PRIORITY},
        _open_priority,
        f"({_INFO_ABI},address,uint256,uint256,(address,uint256,uint256),"
        "(address,uint256,uint256,address)[],(uint256),bytes)",
    ),
}


def kind_of(typed: TypedData) -> OrderKind | None:
    """Which kind of order is signed, None for none of them; its types have to be the kind's own."""
    found = next((kind for kind in KINDS.values() if kind.struct in typed.types), None)
    return found if found is not None and dict(typed.types) == found.types else None


def type_order(kind: OrderKind, order: Mapping[str, object], *, chain_id: int) -> TypedData:
    """What is signed for an order: the most it gives, for its reactor, once."""
    opened = kind.open(order)
    given, info = opened.sides.gives.amount, opened.info
    return TypedData(
        domain=domain_of(chain_id),
        primary_type=WITNESSED,
        types=kind.types,
        message={
            "permitted": {"token": given.token, "amount": given.most},
            "spender": info.reactor,
            "nonce": info.nonce,
            "deadline": info.deadline,
            "witness": dict(order),
        },
    )


def open_order(typed: TypedData) -> OpenedOrder:
    """The order that is signed. Raises KeyError for what is no order."""
    return _known_kind(typed).open(read_witness(typed))


def hash_order(typed: TypedData) -> str:
    """By what its reactor and its desk know an order. Raises KeyError for what is no order."""
    kind = _known_kind(typed)
    return "0x" + hash_struct(kind.struct, read_witness(typed), kind.types).hex()


def encode_order(typed: TypedData) -> bytes:
    """As its reactor takes it, not co-signed yet. Raises KeyError."""
    return encode_args((_known_kind(typed).abi,), (open_order(typed).values,))


def _known_kind(typed: TypedData) -> OrderKind:
    kind = kind_of(typed)
    if kind is None:
        raise KeyError("no order of UniswapX")
    return kind
