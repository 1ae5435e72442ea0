"""A golem driven by LangChain: hand `run` any chat model that binds tools, such as ChatOpenAI or ChatAnthropic."""

from __future__ import annotations

from functools import partial
from typing import Any

from golem_desk import INSTRUCTIONS, GolemDesk
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool

MOST_ROUNDS = 20


def make_tools(desk: GolemDesk) -> list[StructuredTool]:
    """The golem's tools as they are loaded now."""
    return [
        StructuredTool(
            name=tool.name,
            description=tool.description,
            args_schema=tool.parameters,
            func=partial(_call, desk, tool.name),
        )
        for tool in desk.list_tools()
    ]


def run(desk: GolemDesk, model: BaseChatModel, task: str) -> str:
    """The model's last words; its tools are bound anew in every round, so that what it loads is there in the next."""
    messages: list[BaseMessage] = [SystemMessage(INSTRUCTIONS), HumanMessage(task)]
    for _ in range(MOST_ROUNDS):
        tools = {tool.name: tool for tool in make_tools(desk)}
        answer = model.bind_tools(list(tools.values())).invoke(messages)
        messages.append(answer)
        if not answer.tool_calls:
            return str(answer.content)
        for wanted in answer.tool_calls:
            known = tools.get(wanted["name"])
            text = known.invoke(wanted["args"]) if known else f"there is no tool {wanted['name']!r}"
            messages.append(ToolMessage(text, tool_call_id=wanted["id"]))
    raise RuntimeError(f"no last word after {MOST_ROUNDS} rounds")


def _call(desk: GolemDesk, tool: str, /, **arguments: Any) -> str:
    return desk.call(tool, arguments)
