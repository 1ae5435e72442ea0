"""Knows which models this process may ask and what they cost, and opens exchanges with them.

Holds the key as a Secret; nothing here prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from uuid import UUID

from django.conf import settings

from archetypes_app.actions.spend_on_model import ModelReservation, reserve_model_cost, settle_model_cost
from archetypes_app.models.archetype import InferenceTier
from golem_project.heartbeat.thinking.endpoint import Endpoint, is_local, parse_endpoint
from golem_project.heartbeat.thinking.errors import (
    ModelEndpointRefused,
    ModelNotConfigured,
    ModelUnavailable,
    ThinkingTooDear,
)
from golem_project.heartbeat.thinking.loop_values import (
    Bill,
    ConversationLimits,
    Dialogue,
    Exchange,
    ManualTool,
    ModelTurn,
)
from tools_app.core import clock
from tools_app.core.taint import Secret, TaintLabel
from tools_app.toolkit.golem_toolset import Toolset

PROVIDER_URLS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
_LLM_TOKENS_PER_PRICE = 1_000_000
_LEAST_SHARE_BILLED = 20
"""A bill under a twentieth of what its tokens come to cannot be: the deepest discount, on text out of a cache, is nine
tenths."""
_CHARACTERS_PER_LLM_TOKEN = 2
"""Fewer than any text needs: a reservation is a worst case."""

ToolWriter = Callable[..., Sequence[ManualTool]]
"""Makes the Pi-facing tools of a toolset: `define_tools(toolset=, permit_ttl_seconds=, has_memory=)`."""
ToolWeigher = Callable[..., bool]
"""Whether tools cost a model no more than they may: `cost_little(tools, are_ours=)`."""


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Micro-USD per million tokens of the model."""

    input_micro_usd: int
    output_micro_usd: int

    def cost(self, *, input_llm_tokens: int, output_llm_tokens: int) -> int:
        """Micro-USD, rounded up."""
        parts = input_llm_tokens * self.input_micro_usd + output_llm_tokens * self.output_micro_usd
        return -(-parts // _LLM_TOKENS_PER_PRICE)


@dataclass(frozen=True, slots=True)
class ThinkingModel:
    """One model at the configured endpoint."""

    name: str
    price: ModelPrice


@dataclass(frozen=True, slots=True)
class ModelClient:
    """The endpoint, its key, a model for each tier that has one, and who writes the tools down for them."""

    provider: str
    endpoint: Endpoint
    models: Mapping[InferenceTier, ThinkingModel]
    write_tools: ToolWriter
    cost_little: ToolWeigher
    api_key: Secret | None = field(default=None, repr=False)

    def choose_model(self, tier: InferenceTier) -> ThinkingModel:
        """The model of `tier`. Raises ModelNotConfigured, and for one without a price that is not local."""
        model = self.models.get(tier)
        if model is None or not model.name:
            raise ModelNotConfigured(f"tier {tier} has no model; set GOLEM_MODEL_{tier}")
        if not model.price.input_micro_usd and not model.price.output_micro_usd and not self._is_local():
            raise ModelNotConfigured(
                f"{model.name} is not local and has no price, so no cap could hold; set"
                f" GOLEM_MODEL_{tier}_INPUT_MICRO_USD and GOLEM_MODEL_{tier}_OUTPUT_MICRO_USD"
            )
        return model

    def write(
        self, *, toolset: Toolset, permit_ttl_seconds: int, has_memory: bool, has_writes: bool = False
    ) -> Sequence[ManualTool]:
        """The Pi-facing tools over what is shown, `toolset`, as a model reads them."""
        return self.write_tools(
            toolset=toolset, permit_ttl_seconds=permit_ttl_seconds, has_memory=has_memory, has_writes=has_writes
        )

    def open(
        self,
        *,
        model: ThinkingModel,
        instructions: str,
        opening: str,
        tools: Sequence[ManualTool],
        history: Sequence[Exchange] = (),
    ) -> AbstractContextManager[Dialogue]:
        """Begin a dialogue, after `history` where there was one; nothing is sent yet."""
        # The model library costs seconds and a hundred megabytes; only a process that thinks pays.
        door = import_module("golem_project.heartbeat.thinking.model_exchange")
        opened: AbstractContextManager[Dialogue] = door.ModelDialogue(
            provider=self.provider,
            endpoint=self.endpoint,
            api_key=self.api_key,
            model_name=model.name,
            most_output_llm_tokens=settings.GOLEM_MODEL_OUTPUT_LLM_TOKENS,
            most_response_bytes=settings.GOLEM_MODEL_RESPONSE_BYTES,
            instructions=instructions,
            opening=opening,
            tools=tools,
            history=history,
        )
        return opened

    def _is_local(self) -> bool:
        if not self.endpoint.allow_local:
            return False
        try:
            return is_local(self.endpoint)
        except OSError:
            raise ModelUnavailable(f"{self.endpoint.host} has no address now") from None


class GolemPurse:
    """Pays for one golem's requests out of its daily cap, and at most `most_micro_usd` in all, where that is said."""

    def __init__(
        self,
        *,
        golem_id: UUID,
        price: ModelPrice,
        most_output_llm_tokens: int,
        cap_micro_usd: int,
        most_micro_usd: int | None = None,
    ) -> None:
        self._golem_id = golem_id
        self._price = price
        self._most_output = most_output_llm_tokens
        self._cap = cap_micro_usd
        self._most_micro_usd = most_micro_usd
        self._held: ModelReservation | None = None
        self._held_tokens = 0
        self.spent_micro_usd = 0

    def hold(self, *, characters: int) -> None:
        """Reserve the worst case of the next request. Raises ModelBudgetSpent, ThinkingTooDear."""
        self._held_tokens = characters // _CHARACTERS_PER_LLM_TOKEN + 1
        most = self._price.cost(input_llm_tokens=self._held_tokens, output_llm_tokens=self._most_output)
        if self._most_micro_usd is not None and self.spent_micro_usd + most > self._most_micro_usd:
            raise ThinkingTooDear(
                f"the next may cost {most} micro-USD; {self.spent_micro_usd} of {self._most_micro_usd} is spent",
                spent_micro_usd=str(self.spent_micro_usd),
                most_micro_usd=str(self._most_micro_usd),
            )
        self._held = reserve_model_cost(
            golem_id=self._golem_id, most_micro_usd=most, cap_micro_usd=self._cap, now=clock.now()
        )

    def settle(self, *, turn: ModelTurn | None, is_free: bool = False) -> Bill:
        """Put the real cost in its place. What is not known, or cannot be, counts as the worst case; what was never
        sent, or turned away unread, costs nothing. A provider's bill counts where it is above its tokens' prices.
        """
        if self._held is None:
            return Bill.COUNTED
        bill, cost = Bill.DOUBTED, self._held.micro_usd
        if turn is None and is_free:
            bill, cost = Bill.COUNTED, 0
        elif turn is not None:
            bill, cost = self._read_bill(turn, worst=cost)
        settle_model_cost(reservation=self._held, cost_micro_usd=cost)
        self.spent_micro_usd += cost
        self._held = None
        return bill

    def _read_bill(self, turn: ModelTurn, *, worst: int) -> tuple[Bill, int]:
        """How the bill of `turn` stands to its tokens, and the micro-USD that count; `worst` where it is doubted."""
        counted = self._price.cost(input_llm_tokens=turn.input_llm_tokens, output_llm_tokens=turn.output_llm_tokens)
        billed = counted if turn.billed_micro_usd is None else turn.billed_micro_usd
        if not turn.is_billed or billed * _LEAST_SHARE_BILLED < counted:
            return Bill.DOUBTED, max(worst, counted, billed)
        return (Bill.DEARER, billed) if billed > counted else (Bill.COUNTED, counted)


def read_client(*, write_tools: ToolWriter, cost_little: ToolWeigher) -> ModelClient | None:
    """The client the settings describe; None without a model. Raises ModelEndpointRefused, ModelNotConfigured."""
    if not settings.GOLEM_MODEL_T1 and not settings.GOLEM_MODEL_T2:
        return None
    provider = settings.GOLEM_MODEL_PROVIDER
    if provider not in PROVIDER_URLS:
        raise ModelNotConfigured(f"GOLEM_MODEL_PROVIDER must be one of {', '.join(PROVIDER_URLS)}")
    endpoint = parse_endpoint(
        settings.GOLEM_MODEL_BASE_URL or PROVIDER_URLS[provider], allow_local=settings.GOLEM_MODEL_ALLOW_LOCAL
    )
    key = settings.GOLEM_MODEL_API_KEY
    return ModelClient(
        provider=provider,
        endpoint=endpoint,
        api_key=Secret(key, TaintLabel.OWNER_SECRET) if key else None,
        models={
            InferenceTier.T1: ThinkingModel(
                settings.GOLEM_MODEL_T1,
                ModelPrice(settings.GOLEM_MODEL_T1_INPUT_MICRO_USD, settings.GOLEM_MODEL_T1_OUTPUT_MICRO_USD),
            ),
            InferenceTier.T2: ThinkingModel(
                settings.GOLEM_MODEL_T2,
                ModelPrice(settings.GOLEM_MODEL_T2_INPUT_MICRO_USD, settings.GOLEM_MODEL_T2_OUTPUT_MICRO_USD),
            ),
        },
        write_tools=write_tools,
        cost_little=cost_little,
    )


def read_limits() -> ConversationLimits:
    """The numbers of one deliberation, from the settings."""
    return ConversationLimits(
        rounds=settings.GOLEM_THINKING_ROUNDS,
        calls=settings.GOLEM_THINKING_CALLS,
        identical_calls=settings.GOLEM_THINKING_IDENTICAL_CALLS,
        argument_bytes=settings.GOLEM_THINKING_ARGUMENT_BYTES,
        request_seconds=settings.GOLEM_MODEL_REQUEST_SECONDS,
        summary_characters=settings.GOLEM_THINKING_SUMMARY_CHARACTERS,
    )


__all__ = [
    "GolemPurse",
    "ModelClient",
    "ModelEndpointRefused",
    "ModelPrice",
    "ThinkingModel",
    "read_client",
    "read_limits",
]
