"""The four kinds of orders: how each is typed, what the worst of it is, and how it is encoded for its reactor.

Types as in the reactors' sources (Uniswap/UniswapX) and the package's ABIs. An order is typed data for Permit2, whose
witness is the order itself; who co-signs it may only improve what it brings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools_app.chain.abi import encode_args
from tools_app.chain.typed_hash import hash_struct
from tools_app.protocols.uniswap_x.addresses import DUTCH_V2, DUTCH_V3, LIMIT, PRIORITY
from tools_app.standards.auctions import Decaying
from tools_app.standards.permit2 import domain_of
from tools_app.standards.signed_order_tracking import WITNESSED
from tools_app.toolkit.typed_data import TypedData

ZERO: Final = "0x" + "0" * 40
Fields = tuple[tuple[str, str], ...]

_INFO: Final[Fields] = (
    ("reactor", "address"),
    ("swapper", "address"),
    ("nonce", "uint256"),
    ("deadline", "uint256"),
    ("additionalValidationContract", "address"),
    ("additionalValidationData", "bytes"),
)
_PERMITTED: Final[Fields] = (("token", "address"), ("amount", "uint256"))
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
class OrderKind:
    """A kind of order. `key` names its reactor, `wire` the order's type for its desk, `struct` its type.

    `structs` are its types beside those of all orders, `read` tells both sides of its message, `abi` its encoding and
    `values` the values for that. `is_cosigned` orders are filled only with a signature of their cosigner.
    """

    key: str
    wire: str
    struct: str
    structs: Mapping[str, Fields]
    read: Callable[[Mapping[str, Any]], Sides]
    abi: str
    values: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    is_cosigned: bool = True

    @property
    def types(self) -> dict[str, Fields]:
        """Every struct of what is signed."""
        return {
            WITNESSED: (
                ("permitted", "TokenPermissions"),
                ("spender", "address"),
                ("nonce", "uint256"),
                ("deadline", "uint256"),
                ("witness", self.struct),
            ),
            "TokenPermissions": _PERMITTED,
            "OrderInfo": _INFO,
            **self.structs,
        }


def _info(order: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(bytes.fromhex(each[2:]) if kind == "bytes" else each for each, kind in _pairs(order["info"], _INFO))


def _pairs(values: Mapping[str, object], fields: Fields) -> list[tuple[Any, str]]:
    return [(values[name], kind) for name, kind in fields]


def _outputs(order: Mapping[str, Any], field: str) -> list[tuple[Any, ...]]:
    return [tuple(each[name] for name, _ in _OUTPUT) for each in order[field]]


def _read_dutch(order: Mapping[str, Any], given: str, start: str, end: str, outputs: str) -> Sides:
    return Sides(
        Side(Decaying(order[given], order[start], order[end])),
        tuple(
            Side(Decaying(each["token"], each["startAmount"], each["endAmount"]), each["recipient"])
            for each in order[outputs]
        ),
    )


def _read_v3(order: Mapping[str, Any]) -> Sides:
    given = order["baseInput"]
    # Whatever its curve and the base fee do to it, the reactor keeps it within these.
    return Sides(
        Side(Decaying(given["token"], given["startAmount"], given["maxAmount"])),
        tuple(
            Side(Decaying(each["token"], each["startAmount"], each["minAmount"]), each["recipient"])
            for each in order["baseOutputs"]
        ),
    )


def _read_priority(order: Mapping[str, Any]) -> Sides:
    given = order["input"]
    # A filler's priority fee makes the output more or the input less.
    return Sides(
        Side(Decaying(given["token"], given["amount"], given["amount"])),
        tuple(
            Side(Decaying(each["token"], each["amount"], each["amount"]), each["recipient"])
            for each in order["outputs"]
        ),
    )


def _curve(value: Mapping[str, Any]) -> tuple[Any, ...]:
    return (value["relativeBlocks"], list(value["relativeAmounts"]))


KINDS: Final[Mapping[str, OrderKind]] = {
    LIMIT: OrderKind(
        LIMIT,
        "Limit",
        "ExclusiveDutchOrder",
        {
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
        },
        lambda order: _read_dutch(order, "inputToken", "inputStartAmount", "inputEndAmount", "outputs"),
        f"({_INFO_ABI},uint256,uint256,address,uint256,(address,uint256,uint256),{_OUTPUTS_ABI})",
        lambda order: (
            _info(order),
            order["decayStartTime"],
            order["decayEndTime"],
            order["exclusiveFiller"],
            order["exclusivityOverrideBps"],
            (order["inputToken"], order["inputStartAmount"], order["inputEndAmount"]),
            _outputs(order, "outputs"),
        ),
        is_cosigned=False,
    ),
    DUTCH_V2: OrderKind(
        DUTCH_V2,
        "Dutch_V2",
        "V2DutchOrder",
        {
            "V2DutchOrder": (
                ("info", "OrderInfo"),
                ("cosigner", "address"),
                ("baseInputToken", "address"),
                ("baseInputStartAmount", "uint256"),
                ("baseInputEndAmount", "uint256"),
                ("baseOutputs", "DutchOutput[]"),
            ),
            "DutchOutput": _OUTPUT,
        },
        lambda order: _read_dutch(order, "baseInputToken", "baseInputStartAmount", "baseInputEndAmount", "baseOutputs"),
        f"({_INFO_ABI},address,(address,uint256,uint256),{_OUTPUTS_ABI},"
        "(uint256,uint256,address,uint256,uint256,uint256[]),bytes)",
        lambda order: (
            _info(order),
            order["cosigner"],
            (order["baseInputToken"], order["baseInputStartAmount"], order["baseInputEndAmount"]),
            _outputs(order, "baseOutputs"),
            (0, 0, ZERO, 0, 0, []),
            b"",
        ),
    ),
    DUTCH_V3: OrderKind(
        DUTCH_V3,
        "Dutch_V3",
        "V3DutchOrder",
        {
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
        },
        _read_v3,
        f"({_INFO_ABI},address,uint256,(address,uint256,{_CURVE_ABI},uint256,uint256),"
        f"(address,uint256,{_CURVE_ABI},address,uint256,uint256)[],(uint256,address,uint256,uint256,uint256[]),bytes)",
        lambda order: (
            _info(order),
            order["cosigner"],
            order["startingBaseFee"],
            (
                order["baseInput"]["token"],
                order["baseInput"]["startAmount"],
                _curve(order["baseInput"]["curve"]),
                order["baseInput"]["maxAmount"],
                order["baseInput"]["adjustmentPerGweiBaseFee"],
            ),
            [
                (
                    each["token"],
                    each["startAmount"],
                    _curve(each["curve"]),
                    each["recipient"],
                    each["minAmount"],
                    each["adjustmentPerGweiBaseFee"],
                )
                for each in order["baseOutputs"]
            ],
            (0, ZERO, 0, 0, []),
            b"",
        ),
    ),
    PRIORITY: OrderKind(
        PRIORITY,
        "Priority",
        "PriorityOrder",
        {
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
        },
        _read_priority,
        f"({_INFO_ABI},address,uint256,uint256,(address,uint256,uint256),"
        "(address,uint256,uint256,address)[],(uint256),bytes)",
        lambda order: (
            _info(order),
            order["cosigner"],
            order["auctionStartBlock"],
            order["baselinePriorityFeeWei"],
            tuple(order["input"][name] for name in ("token", "amount", "mpsPerPriorityFeeWei")),
            [
                tuple(each[name] for name in ("token", "amount", "mpsPerPriorityFeeWei", "recipient"))
                for each in order["outputs"]
            ],
            (0,),
            b"",
        ),
    ),
}


def kind_of(typed: TypedData) -> OrderKind | None:
    """Which kind of order is signed, None for none of them; its types have to be the kind's own."""
    found = next((kind for kind in KINDS.values() if kind.struct in typed.types), None)
    return found if found is not None and dict(typed.types) == found.types else None


def type_order(kind: OrderKind, order: Mapping[str, Any], *, chain_id: int) -> TypedData:
    """What is signed for an order: the most it gives, for its reactor, once."""
    given, info = kind.read(order).gives.amount, order["info"]
    return TypedData(
        domain=domain_of(chain_id),
        primary_type=WITNESSED,
        types=kind.types,
        message={
            "permitted": {"token": given.token, "amount": given.most},
            "spender": info["reactor"],
            "nonce": info["nonce"],
            "deadline": info["deadline"],
            "witness": dict(order),
        },
    )


def hash_order(typed: TypedData) -> str:
    """By what its reactor and its desk know an order. Raises KeyError for what is no order."""
    kind = kind_of(typed)
    if kind is None:
        raise KeyError("no order of UniswapX")
    return "0x" + hash_struct(kind.struct, typed.message["witness"], kind.types).hex()


def encode_order(typed: TypedData) -> bytes:
    """As its reactor takes it, not co-signed yet. Raises KeyError."""
    kind = kind_of(typed)
    if kind is None:
        raise KeyError("no order of UniswapX")
    return encode_args((kind.abi,), (kind.values(typed.message["witness"]),))
