"""The operations of one batch, field by field, as the text of a JSON list."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tools_app.core.bounded_parsing import OutsideTextRefused, read_exact_json
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.canonical_param_values import Meaning
from tools_app.toolkit.params import PLAIN, DecimalText, FeeTier, Flag, PercentWhole, RangeId, RawAmount, Token

MOST_OPERATIONS: Final = 10
_MOST_CHARACTERS: Final = 4_000
_MOST_DEPTH: Final = 3

OperationsText = Annotated[
    str,
    Field(
        max_length=_MOST_CHARACTERS,
        description=(
            'The text of a JSON list such as [{"op_type": "collect", "position_id": "7"}], at most ten: collect;'
            ' compound; remove with "params": {"percent_to_remove": 50}; rebalance with {"new_price_lower",'
            ' "new_price_upper"}; add with {"token0", "token1", "price_lower", "price_upper", "amount0"}.'
        ),
    ),
    PLAIN,
    Meaning.JSON,
]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NoParams(_Fields):
    """Nothing more is said."""


class CompoundParams(_Fields):
    """How fees are put back."""

    swap_to_optimal_ratio: Flag = True


class RemoveParams(_Fields):
    """How much is taken out."""

    percent_to_remove: PercentWhole = 100
    collect_fees: Flag = True


class RebalanceParams(_Fields):
    """Where to, in token1 per token0 in the pool's order."""

    new_price_lower: DecimalText
    new_price_upper: DecimalText
    fee: FeeTier | None = None


class AddParams(_Fields):
    """What is opened; prices and amounts in the order in which the tokens are named."""

    token0: Token
    token1: Token
    price_lower: DecimalText
    price_upper: DecimalText
    fee: FeeTier | None = None
    amount0: RawAmount | None = None
    amount1: RawAmount | None = None


class Collect(_Fields):
    """Bring the fees of a position into the wallet."""

    op_type: Literal["collect"]
    position_id: RangeId
    params: NoParams = NoParams()


class Compound(_Fields):
    """Put the fees of a position back into it."""

    op_type: Literal["compound"]
    position_id: RangeId
    params: CompoundParams = CompoundParams()


class Remove(_Fields):
    """Take liquidity out of a position."""

    op_type: Literal["remove"]
    position_id: RangeId
    params: RemoveParams = RemoveParams()


class Rebalance(_Fields):
    """Move a position to another range."""

    op_type: Literal["rebalance"]
    position_id: RangeId
    params: RebalanceParams


class Add(_Fields):
    """Open a position."""

    op_type: Literal["add"]
    params: AddParams


Operation = Annotated[Collect | Compound | Remove | Rebalance | Add, Field(discriminator="op_type")]
_LIST: Final[TypeAdapter[list[Operation]]] = TypeAdapter(
    Annotated[list[Operation], Field(min_length=1, max_length=MOST_OPERATIONS)]
)


def parse_operations(text: str) -> list[Operation]:
    """The operations, in their order. Raises InvalidParams, which names every bad field."""
    try:
        return _LIST.validate_python(read_exact_json(text, most_bytes=4 * _MOST_CHARACTERS, most_depth=_MOST_DEPTH))
    except OutsideTextRefused as refused:
        raise InvalidParams(f"operations: {refused}", fields={"operations": str(refused)}) from None
    except ValidationError as error:
        fields = {".".join(("operations", *map(str, each["loc"]))): each["msg"] for each in error.errors()}
        words = "; ".join(f"{name}: {problem}" for name, problem in fields.items())
        raise InvalidParams(
            words, fields=fields, allowed=["collect", "compound", "remove", "add", "rebalance"]
        ) from None
