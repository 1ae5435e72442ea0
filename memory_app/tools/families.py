"""The family of the memory tools, and the parameter types they share."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field

from memory_app.models.insight import InsightCategory
from memory_app.models.provenance import Source, Trust
from memory_app.provenance import Provenance
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.canonical_param_values import Meaning, spell_decimal
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import Category, Requirement
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.params import PLAIN, ChainId, check_whole

memory = ToolFamily(prefix="memory", category=Category.MEMORY, requires=frozenset({Requirement.MEMORY}))

StoreChoice = Annotated[
    Literal["episodes", "insights", "both"],
    Field(description="What to search: episodes (what happened), insights (what was concluded), or both."),
]
TokenPair = Annotated[
    str,
    Field(
        pattern=r"^[^/\s]{1,64}/[^/\s]{1,64}$",
        description="Two token symbols or addresses, such as USDC/WETH; episodes must hold both.",
    ),
    Meaning.TOKEN_PAIR,
]
TokenPairs = Annotated[list[TokenPair], Field(description="Pairs it is meant for, in any order."), Meaning.ANY_ORDER]
Chains = Annotated[list[ChainId], Field(description="Chain ids it is meant for, in any order."), Meaning.ANY_ORDER]
ToolName = Annotated[
    str, Field(pattern=r"^[a-z0-9_]{3,96}$", description="Full name of a tool, such as uniswap_execute_swap.")
]
Confidence = Annotated[
    str,
    Field(
        pattern=r"^(0(\.[0-9]{1,2})?|1(\.0{1,2})?)$", description="Least confidence of insights, 0 to 1, such as 0.6."
    ),
]
SortBy = Annotated[Literal["confidence", "created", "updated"], Field(description="Highest or newest first.")]
InsightSubject = Annotated[InsightCategory, Field(description="What the insight is about.")]
ResultLimit = Annotated[int, Field(ge=1, le=50, description="Most results, 1 to 50."), BeforeValidator(check_whole)]
ImportanceName = Annotated[
    Literal["routine", "base", "notable", "mev", "critical", "emergency"],
    Field(description="How much it matters: routine keeps 7 days, notable 30, mev and critical 90, emergency 180."),
]
Note = Annotated[str, Field(min_length=1, max_length=1_000, description="Plain text, at most 1,000 characters."), PLAIN]
LongNote = Annotated[
    str, Field(min_length=1, max_length=4_000, description="Plain text, at most 4,000 characters."), PLAIN
]
Tag = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$", description="A word that dreams group by, such as mev.")]
MemoryId = Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$", description="The id of an episode or insight.")]
StrategyName = Annotated[
    str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$", description="Name of a strategy, such as eth-range-12.")
]
JsonObject = Annotated[
    str,
    Field(max_length=8_000, description='The text of a JSON object without null, such as {"fee": 500}.'),
    Meaning.JSON,
]
SignedUsd = Annotated[
    str,
    Field(pattern=r"^-?[0-9]{1,12}(\.[0-9]{1,6})?$", description="US dollars as decimal text, such as -12.50."),
    AfterValidator(spell_decimal),
]


def split_pair(token_pair: str | None) -> tuple[str, ...]:
    """The two tokens of a pair, or none. Raises InvalidParams when they are one."""
    if token_pair is None:
        return ()
    parts = tuple(token_pair.split("/"))
    if len({part.lower() for part in parts}) < 2:
        raise InvalidParams("token_pair names one token twice", fields={"token_pair": "two different tokens"})
    return parts


def read_id(text: str | None, *, field: str) -> UUID:
    """An id. Raises InvalidParams naming `field`."""
    try:
        return UUID(text or "")
    except ValueError:
        raise InvalidParams(f"{field} is no id", fields={field: "an id of this golem's memory"}) from None


def from_agent(ctx: WriteContext, capability: Capability) -> Provenance:
    """Who writes when an agent does: its golem, through which tool, under which permit."""
    return Provenance(
        recorded_by=f"golem:{ctx.golem.id}",
        source=Source.AGENT,
        trust=Trust.REPORTED,
        tool=capability.tool_name,
        permit_id=str(capability.permit_id),
    )
