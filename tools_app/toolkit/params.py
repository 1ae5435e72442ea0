"""The types of tool parameters: one concept, one type, one description for every tool.

Only this module builds such types, because two orders of pydantic metadata silently lose constraints
from the schema; every annotation here puts `Field` first. Amounts are integers in base units and
travel as decimal strings.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from eth_utils import is_checksum_address, to_checksum_address
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic.fields import FieldInfo

from tools_app.core.exact_numbers import LARGEST_EXACT
from tools_app.core.storable_text import make_plain
from tools_app.toolkit.canonical_param_values import Meaning, has_meaning, spell_decimal, spell_route, spell_whole
from tools_app.toolkit.pool_ids import is_pool_id

MAX_UINT256 = 2**256 - 1
_HEX_ADDRESS = re.compile(r"^0x[0-9a-fA-F]{40}$")


def check_address(text: str) -> str:
    """The EIP-55 form of an address; refuses a mixed-case one whose checksum is wrong."""
    if not _HEX_ADDRESS.match(text):
        raise ValueError("not an address: expected 0x and 40 hex digits")
    body = text[2:]
    if body not in (body.lower(), body.upper()) and not is_checksum_address(text):
        raise ValueError("the address has a wrong EIP-55 checksum; one of its characters was changed")
    return str(to_checksum_address(text))


def check_pool_name(text: str) -> str:
    """The one spelling of a pool's name: an EIP-55 address, or 32 bytes in lower case."""
    return text.lower() if is_pool_id(text) else check_address(text)


def check_token(text: str) -> str:
    if text.lower().startswith("0x") and len(text) > 20:
        return check_address(text)
    return text


def parse_raw_amount(value: object) -> int:
    """An amount in base units from a decimal string or an integer; refuses fractions, exponents, signs and floats."""
    if isinstance(value, bool) or isinstance(value, float):
        raise ValueError("an amount is a decimal string of base units, never a floating-point number")
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]{1,78}", value):
            raise ValueError("an amount is a whole number of base units written as digits only")
        value = int(value)
    if not isinstance(value, int):
        raise ValueError("an amount is a decimal string of base units")
    if value < 0:
        raise ValueError("an amount is never negative")
    if value > MAX_UINT256:
        raise ValueError("the amount does not fit 256 bits")
    return value


def check_positive(value: int) -> int:
    if value <= 0:
        raise ValueError("the amount must be at least 1 base unit")
    return value


def check_whole(value: object) -> object:
    """A whole number as JSON has it: 5 and 5.0 are one number, true and the text "5" are none."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_EXACT:
        return int(value)
    if isinstance(value, bool | float | str):
        raise ValueError("a whole number is expected, written without quotes")
    return value


def _raw_amount_schema(description: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,78}$", "description": description})


_AMOUNT = "Amount in the token's base units, as a decimal string: 500 USDC (6 decimals) is 500000000."

Address = Annotated[
    str,
    Field(pattern=r"^0x[0-9a-fA-F]{40}$", description="0x-prefixed account or contract address."),
    AfterValidator(check_address),
]
OwnAccount = Annotated[
    str,
    Field(pattern=r"^0x[0-9a-fA-F]{40}$", description="0x-prefixed account or contract address."),
    AfterValidator(check_address),
    Meaning.OWN_ACCOUNT,
]
"""Can be none but the golem's own account, which is meant too where it is left out."""
AddressOrNobody = Annotated[
    str,
    Field(pattern=r"^0x[0-9a-fA-F]{40}$", description="0x-prefixed account or contract address."),
    AfterValidator(check_address),
    Meaning.NOBODY,
]
ContractAddress = Annotated[
    str,
    Field(pattern=r"^0x[0-9a-fA-F]{40}$", description="0x-prefixed contract address."),
    AfterValidator(check_address),
]
Bytes32 = Annotated[
    str,
    Field(pattern=r"^0x[0-9a-fA-F]{64}$", description="0x-prefixed id of 32 bytes."),
    AfterValidator(str.lower),
]
PoolAddress = Annotated[
    str,
    Field(
        pattern=r"^0x[0-9a-fA-F]{40}$",
        description="0x-prefixed pool address; data_get_pools_by_token_pair finds it.",
    ),
    AfterValidator(check_address),
]
"""A pool that is a contract of its own, where a service asks for nothing else."""
PoolName = Annotated[
    str,
    Field(
        pattern=r"^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$",
        description="0x-prefixed pool address, or 32-byte id of one without; data_get_pools_by_token_pair finds it.",
    ),
    AfterValidator(check_pool_name),
]
Token = Annotated[
    str,
    Field(
        pattern=r"^(0x[0-9a-fA-F]{40}|[A-Za-z0-9.+\-]{1,20})$",
        description="Token address (0x…) or a symbol registered on the chain, such as USDC.",
    ),
    AfterValidator(check_token),
    Meaning.TOKEN,
]


def is_token(field: FieldInfo) -> bool:
    """Whether a parameter is a `Token`, also one that may be left out."""
    return has_meaning(field, Meaning.TOKEN)


RawAmount = Annotated[
    int,
    Field(description=_AMOUNT),
    BeforeValidator(parse_raw_amount),
    AfterValidator(check_positive),
    _raw_amount_schema(_AMOUNT),
]
RawAmountOrZero = Annotated[
    int, Field(description=_AMOUNT), BeforeValidator(parse_raw_amount), _raw_amount_schema(_AMOUNT)
]
_MAX = "max"
EVERYTHING: Final = MAX_UINT256
"""What `max` means where an amount or all of it can be asked for."""


def _parse_amount_or_max(value: object) -> int:
    return EVERYTHING if isinstance(value, str) and value.strip().lower() == _MAX else parse_raw_amount(value)


_AMOUNT_OR_MAX = f"{_AMOUNT} Or max: all of it."
RawAmountOrMax = Annotated[
    int,
    Field(description=_AMOUNT_OR_MAX),
    BeforeValidator(_parse_amount_or_max),
    AfterValidator(check_positive),
    WithJsonSchema({"type": "string", "pattern": "^([0-9]{1,78}|max)$", "description": _AMOUNT_OR_MAX}),
]
RawAmounts = Annotated[
    list[RawAmount],
    Field(min_length=1, max_length=20, description="Amounts in the token's base units, one for each request."),
]
RateMode = Annotated[
    Literal["variable", "stable"],
    Field(description="How interest is fixed: variable, or stable where the lender still has it."),
]
ChainId = Annotated[
    int,
    Field(ge=1, le=2**53 - 1, description="EIP-155 chain id, such as 1 or 8453."),
    BeforeValidator(check_whole),
]
SlippageBps = Annotated[
    int,
    Field(ge=0, le=10_000, description="Most slippage accepted, in basis points: 50 is 0.5%."),
    BeforeValidator(check_whole),
]
PercentWhole = Annotated[int, Field(ge=1, le=100, description="Whole percent, 1 to 100."), BeforeValidator(check_whole)]
FeeTier = Annotated[
    int,
    Field(ge=1, le=999_999, description="Fee of a pool in hundredths of a basis point: 500 is 0.05%."),
    BeforeValidator(check_whole),
]
DeadlineSeconds = Annotated[
    int,
    Field(ge=30, le=86_400, description="Seconds from now after which the transaction must not run."),
    BeforeValidator(check_whole),
]
Seconds = Annotated[
    int, Field(ge=1, le=31_536_000, description="Length of time in seconds."), BeforeValidator(check_whole)
]
Hours = Annotated[int, Field(ge=1, le=720, description="Hours to look back."), BeforeValidator(check_whole)]
Limit = Annotated[int, Field(ge=1, le=100, description="Most rows to answer, 1 to 100."), BeforeValidator(check_whole)]
Count = Annotated[int, Field(ge=1, le=1_000, description="A count, at least 1."), BeforeValidator(check_whole)]
PoolTickRange = Annotated[
    int,
    Field(ge=1, le=10_000, description="How many tick spacings to read on each side of the current tick."),
    BeforeValidator(check_whole),
]
PoolTick = Annotated[
    int, Field(ge=-887_272, le=887_272, description="Tick of a pool with ranges."), BeforeValidator(check_whole)
]
PositionId = Annotated[
    str,
    # One way to write an id, so that a position has one name wherever text is compared.
    Field(pattern=r"^(0|[1-9][0-9]{0,77})$", description="Liquidity position NFT id, as a decimal string."),
]
RangeId = Annotated[
    str,
    Field(
        pattern=r"^(v4:)?(0|[1-9][0-9]{0,77})$",
        description="Id of a liquidity position: its NFT's number, v4:NUMBER of a V4 one.",
    ),
]
RequestId = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,78}$", description="Withdrawal request id, as a decimal string."),
    AfterValidator(spell_whole),
]
RequestIds = Annotated[
    list[RequestId],
    Field(min_length=1, max_length=20, description="Withdrawal request ids, as decimal strings."),
    Meaning.ANY_ORDER,
]
CommissionPercent = Annotated[
    int, Field(ge=0, le=100, description="Most commission in whole percent, 0 to 100."), BeforeValidator(check_whole)
]
Days = Annotated[int, Field(ge=1, le=90, description="Days to look back, 1 to 90."), BeforeValidator(check_whole)]
DecimalText = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,30}(\.[0-9]{1,30})?$",
        description="Positive decimal number written as text, such as 2950.5.",
    ),
    AfterValidator(spell_decimal),
]
MicroUsdText = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,6})?$", description="US dollars as decimal text, such as 1500.00."),
    AfterValidator(spell_decimal),
]
ContractAddresses = Annotated[
    list[ContractAddress],
    Field(min_length=1, max_length=10, description="Contract addresses, at most 10."),
    Meaning.ANY_ORDER,
]
CallData = Annotated[
    str,
    Field(pattern=r"^0x([0-9a-fA-F]{2})*$", max_length=200_002, description="ABI-encoded call data, 0x-prefixed."),
    AfterValidator(str.lower),
]
ChainRef = Annotated[
    str,
    Field(pattern=r"^[a-z0-9\-]{4,64}$", description="Name of a private test chain, from testnet_setup_local."),
]
IntervalMs = Annotated[
    int,
    Field(ge=5_000, le=3_600_000, description="Milliseconds between two looks, at least 5000."),
    BeforeValidator(check_whole),
]
SubscriptionId = Annotated[
    str,
    Field(
        pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description="Id of a subscription, as the tool that opened it answered.",
    ),
]
_POOL = r"(v2|v[34]:[0-9]{1,6}|v4:0x[0-9a-fA-F]{64})"
ROUTE_PATTERN = rf"^{_POOL}(>(0x[0-9a-fA-F]{{40}}|[A-Za-z0-9.+\-]{{1,20}})>{_POOL})?(@[0-9]{{1,4}})?$"
SwapRoute = Annotated[
    str,
    Field(
        pattern=ROUTE_PATTERN,
        description=(
            "Pools to go through: v2, v3:FEE such as v3:500, v4:FEE, v4:ID of a pool, or two around a hub token:"
            " v3:500>USDC>v2. With @20 behind it: only if it costs at most 20 bps more than the best, else the best."
        ),
    ),
    AfterValidator(spell_route),
    Meaning.ROUTE,
]
Flag = Annotated[bool, Field(description="true or false.", strict=True)]


def _make_plain(value: object) -> object:
    return make_plain(value) if isinstance(value, str) else value


PLAIN: Final = BeforeValidator(_make_plain)
"""Takes characters nobody sees out of a free text before its length is looked at."""


def _check_printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("line ends, null and other characters that nobody sees are refused")
    return text


EXACT: Final = AfterValidator(_check_printable)
"""Refuses them, where a text is passed on as it is."""
ShortText = Annotated[
    str, Field(min_length=1, max_length=2_000, description="Plain text, at most 2,000 characters."), PLAIN
]
CollateralType = Annotated[
    str,
    Field(min_length=1, max_length=2_000, description="Plain text, at most 2,000 characters."),
    PLAIN,
    AfterValidator(lambda text: text.strip().upper()),
]
"""As Maker writes it, such as ETH-A."""
ListedName = Annotated[
    str,
    Field(min_length=1, max_length=60, description="A name as the list writes it, in any letters."),
    PLAIN,
    EXACT,
]
UsdWhole = Annotated[
    int,
    Field(ge=0, le=10**12, description="Whole US dollars, such as 100000."),
    BeforeValidator(check_whole),
]
YieldOrder = Annotated[
    Literal["apy", "tvl"], Field(description="What comes first: the highest yield, or the most in it.")
]
ContextLookback = Annotated[Literal["1d", "7d", "30d"], Field(description="How far to look back: 1d, 7d or 30d.")]
TransactionHashes = Annotated[
    list[Bytes32], Field(min_length=1, max_length=20, description="Transaction hashes, at most 20."), Meaning.ANY_ORDER
]
ChainIds = Annotated[list[ChainId], Field(min_length=1, max_length=10, description="EIP-155 chain ids, at most 10.")]
OrderStatus = Annotated[
    Literal["open", "expired", "error", "cancelled", "filled", "unverified", "insufficient-funds"],
    Field(description="State of an order, as the service calls it."),
]
