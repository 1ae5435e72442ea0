"""A golem driven by pydantic-ai: `OPENAI_API_KEY=… GOLEM_TOKEN=… python pydantic_ai_agent.py MODEL TASK`."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

from golem_client import GolemClient
from golem_desk import INSTRUCTIONS, GolemDesk
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.models import Model
from pydantic_ai.toolsets import FunctionToolset


def make_agent(desk: GolemDesk, model: Model | str) -> Agent[object, str]:
    """An agent whose tools are read anew in every step, so that what it loads is there in the next."""
    agent = Agent(model, instructions=INSTRUCTIONS)

    @agent.toolset(per_run_step=True)
    def golem_tools(context: RunContext[object]) -> FunctionToolset[object]:
        return FunctionToolset(
            [
                Tool.from_schema(
                    partial(_call, desk, tool.name), tool.name, tool.description, tool.parameters, sequential=True
                )
                for tool in desk.list_tools()
            ]
        )

    return agent


def _call(desk: GolemDesk, tool: str, /, **arguments: Any) -> str:
    return desk.call(tool, arguments)


if __name__ == "__main__":
    client = GolemClient(os.environ.get("GOLEM_URL", "http://127.0.0.1:8000"), os.environ["GOLEM_TOKEN"])
    print(make_agent(GolemDesk(client), f"openai-chat:{sys.argv[1]}").run_sync(sys.argv[2]).output)
