"""The door to pydantic-ai: one exchange with one model behind words of our own. The only file that imports it
and the providers' own clients, of which only the configured one is loaded.

Imported when a model is first asked: it costs seconds and a hundred megabytes that a server without a model saves.
Synchronous on the outside, because the domain calls between two requests are.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, cast

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from golem_project.heartbeat.thinking.endpoint import Endpoint
from golem_project.heartbeat.thinking.errors import (
    ModelAnswerInvalid,
    ModelEndpointRefused,
    ModelTimedOut,
    ModelUnavailable,
    ThinkingCancelled,
)
from golem_project.heartbeat.thinking.loop_values import AskedCall, Exchange, ManualTool, ModelTurn, never
from golem_project.heartbeat.thinking.model_http import make_client
from tools_app.core.storable_text import make_plain
from tools_app.core.taint import Secret

_MOST_LLM_TOKENS = 1_000_000_000  # fills any day's cap, and every column
_LOOK_SECONDS = 0.1
_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "PoolTimeout", "gaierror"})
"""What a client or the system raises before a byte of a request is on its way."""
OPENAI_URL = "https://api.openai.com/v1"


class ModelDialogue:
    """One exchange: instructions, a first message, then answers of tools until the model has none to call."""

    def __init__(
        self,
        *,
        provider: str,
        endpoint: Endpoint,
        api_key: Secret | None,
        model_name: str,
        most_output_llm_tokens: int,
        most_response_bytes: int,
        instructions: str,
        opening: str,
        tools: Sequence[ManualTool],
        history: Sequence[Exchange] = (),
    ) -> None:
        self._runner = asyncio.Runner()
        self._billed_micro_usd: int | None = None
        self._client = make_client(endpoint, most_bytes=most_response_bytes, note_bill=self._note_bill)
        open_model = _open_anthropic if provider == "anthropic" else _open_openai
        # A local server often asks for no key; the clients insist on one.
        key = api_key.reveal() if api_key is not None else "none"
        self._model, self._client_error = open_model(endpoint, key, model_name, self._client)
        # What stands before the mark, the tools and the instructions, is the same in every round. OpenAI's interface
        # and local servers keep a beginning they know by themselves and take no marks.
        self._cache_marks: dict[str, object] = {"anthropic_cache_instructions": True} if provider == "anthropic" else {}
        self._most_output = most_output_llm_tokens
        self._instructions = instructions
        self._messages: list[ModelMessage] = [
            message
            for exchange in history
            for message in (
                ModelRequest(parts=[UserPromptPart(content=exchange.asked)]),
                ModelResponse(parts=[TextPart(content=exchange.said)]),
            )
        ]
        self._waiting: list[ModelRequestPart] = [UserPromptPart(content=opening)]
        self._written = len(instructions) + len(opening) + sum(len(each.asked) + len(each.said) for each in history)
        self._offered = 0
        self.offer(tools)

    def __enter__(self) -> ModelDialogue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self._client.aclose())
        finally:
            self._runner.close()

    @property
    def characters(self) -> int:
        """How much the next request carries, about."""
        return self._written

    def ask(self, *, seconds: float, is_cancelled: Callable[[], bool] = never) -> ModelTurn:
        """The model's next turn, within `seconds`.

        Raises ModelTimedOut, ModelUnavailable, ModelAnswerInvalid, and ThinkingCancelled soon after it was cancelled.
        """
        request = ModelRequest(parts=self._waiting, instructions=self._instructions)
        limits: ModelSettings = {"max_tokens": self._most_output, "timeout": seconds, "max_retries": 0}
        settings = cast("ModelSettings", {**limits, **self._cache_marks})
        self._billed_micro_usd = None
        try:
            response = self._runner.run(self._request(request, settings, seconds, is_cancelled))
        except (ModelEndpointRefused, ModelAnswerInvalid, ThinkingCancelled):
            raise
        except TimeoutError:
            raise ModelTimedOut(f"no answer within {seconds:.1f} s") from None
        except ModelHTTPError as error:
            # What the endpoint writes is foreign text and may repeat the key: only its status is told.
            raise ModelUnavailable(f"the endpoint answered {error.status_code}", status=error.status_code) from None
        except (AgentRunError, self._client_error, OSError) as error:
            raise _name_failure(error, seconds) from None
        except (ValueError, TypeError, KeyError, AttributeError, LookupError, ArithmeticError, UserError):
            # A body that is JSON and no answer makes the client stumble in any of these ways.
            raise ModelAnswerInvalid("the endpoint's answer has not the shape of a model's") from None
        self._messages += [request, response]
        self._waiting = []
        turn = replace(_read_turn(response), billed_micro_usd=self._billed_micro_usd)
        self._written += len(turn.text) + sum(len(call.arguments) for call in turn.calls)
        return turn

    def answer(self, *, call: AskedCall, content: Mapping[str, object]) -> None:
        """Put the answer of a tool into the next request."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str)
        self._written += len(text)
        self._waiting.append(ToolReturnPart(tool_name=call.name, content=text, tool_call_id=call.id))

    def offer(self, tools: Sequence[ManualTool]) -> None:
        """Show `tools` from the next request on."""
        self._parameters = ModelRequestParameters(
            function_tools=[
                ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.shown))
                for tool in tools
            ]
        )
        size = sum(len(json.dumps(dict(tool.shown))) for tool in tools)
        self._written += size - self._offered
        self._offered = size

    def instruct(self, instructions: str) -> None:
        """Say `instructions` from the next request on, in the place of those before."""
        self._written += len(instructions) - len(self._instructions)
        self._instructions = instructions

    def _note_bill(self, micro_usd: int | None) -> None:
        self._billed_micro_usd = micro_usd

    async def _request(
        self, request: ModelRequest, settings: ModelSettings, seconds: float, is_cancelled: Callable[[], bool]
    ) -> ModelResponse:
        asked = asyncio.ensure_future(
            model_request(
                self._model,
                [*self._messages, request],
                model_settings=settings,
                model_request_parameters=self._parameters,
            )
        )
        try:
            async with asyncio.timeout(seconds):
                while not (await asyncio.wait({asked}, timeout=_LOOK_SECONDS))[0]:
                    if is_cancelled():
                        raise ThinkingCancelled("it was cancelled while the model wrote")
                return asked.result()
        finally:
            # What is not awaited any more ends with its connection.
            asked.cancel()


def _open_openai(
    endpoint: Endpoint,
    key: str,
    name: str,
    client: Any,  # Any: each provider's library has a client of its own
) -> tuple[Model[Any], type[Exception]]:  # Any: the agent's dependencies are not used
    """A model behind OpenAI's chat interface, and what its client raises."""
    from openai import OpenAIError
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if endpoint.url.rstrip("/") == OPENAI_URL:
        own = OpenAIProvider(api_key=key, base_url=endpoint.url, http_client=client)
        return OpenAIChatModel(name, provider=own), OpenAIError
    other = OpenAICompatibleProvider("operator", base_url=endpoint.url, api_key=key, http_client=client)
    return OpenAIChatModel(name, provider=other), OpenAIError


def _open_anthropic(
    endpoint: Endpoint,
    key: str,
    name: str,
    client: Any,  # Any: each provider's library has a client of its own
) -> tuple[Model[Any], type[Exception]]:  # Any: the agent's dependencies are not used
    """A model behind Anthropic's messages, and what its client raises."""
    from anthropic import AnthropicError
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    own = AnthropicProvider(api_key=key, base_url=endpoint.url, http_client=client)
    return AnthropicModel(name, provider=own), AnthropicError


def _name_failure(error: Exception, seconds: float) -> ModelTimedOut | ModelUnavailable | ModelAnswerInvalid:
    """Which of our errors a failure of the client is: read from the chain of its causes, never from its text."""
    cause: BaseException | None = error
    names = []
    while cause is not None:
        names.append(type(cause).__name__)
        if isinstance(cause, ModelEndpointRefused | ModelAnswerInvalid):
            raise cause
        cause = cause.__cause__ or cause.__context__
    if any(name in _NEVER_SENT for name in names):
        return ModelUnavailable("the endpoint cannot be reached", was_sent=False)
    if any("Timeout" in name for name in names):
        return ModelTimedOut(f"no answer within {seconds:.1f} s")
    if any("Connect" in name or "Connection" in name or name in ("OSError", "gaierror") for name in names):
        return ModelUnavailable("the endpoint cannot be reached")
    return ModelAnswerInvalid("the endpoint's answer has not the shape of a model's")


def _read_turn(response: ModelResponse) -> ModelTurn:
    texts, calls = [], []
    for part in response.parts:
        if isinstance(part, TextPart):
            texts.append(make_plain(part.content))
        elif isinstance(part, ToolCallPart):
            arguments = part.args if isinstance(part.args, str) else json.dumps(part.args or {})
            calls.append(AskedCall(id=part.tool_call_id, name=make_plain(part.tool_name), arguments=arguments))
    read, written = response.usage.input_tokens, response.usage.output_tokens
    if _is_count(read) and _is_count(response.usage.cache_write_tokens):
        # Text that is put into a cache costs a quarter more. Text out of one costs less, and counts in full: a cap errs
        # on its own side.
        read += -(-response.usage.cache_write_tokens // 4)
    if not (_is_count(read) and _is_count(written)):
        read = written = 0
    return ModelTurn(
        text="\n".join(texts),
        calls=tuple(calls),
        input_llm_tokens=min(read, _MOST_LLM_TOKENS),
        output_llm_tokens=min(written, _MOST_LLM_TOKENS),
    )


def _is_count(found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and found >= 0
