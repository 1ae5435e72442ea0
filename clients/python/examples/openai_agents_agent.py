"""A golem driven by OpenAI Agents: `OPENAI_API_KEY=… GOLEM_TOKEN=… python openai_agents_agent.py MODEL TASK`."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from typing import Any

from agents import Agent, FunctionTool, OpenAIChatCompletionsModel, RunConfig, Runner
from agents.models.interface import Model
from agents.tool_context import ToolContext
from golem_client import GolemClient
from golem_desk import INSTRUCTIONS, GolemDesk
from openai import AsyncOpenAI


class GolemAgent(Agent[None]):
    """An agent whose tools are read anew in every turn, so that what it loads is there in the next."""

    desk: GolemDesk

    async def get_all_tools(self, run_context: Any) -> list[Any]:
        """The golem's tools as they are loaded now."""
        return [
            FunctionTool(
                name=tool.name,
                description=tool.description,
                params_json_schema=tool.parameters,
                on_invoke_tool=partial(_call, self.desk, tool.name),
                strict_json_schema=False,
            )
            for tool in self.desk.list_tools()
        ]


def run(desk: GolemDesk, model: Model, task: str) -> str:
    """The agent's last words. Traces, which would go to OpenAI, are off: a golem's business is its owner's."""
    agent = GolemAgent(name="golem", instructions=INSTRUCTIONS, model=model)
    agent.desk = desk
    return str(Runner.run_sync(agent, task, run_config=RunConfig(tracing_disabled=True)).final_output)


async def _call(desk: GolemDesk, tool: str, context: ToolContext[Any], arguments: str) -> str:
    return desk.call(tool, json.loads(arguments or "{}"))


if __name__ == "__main__":
    client = GolemClient(os.environ.get("GOLEM_URL", "http://127.0.0.1:8000"), os.environ["GOLEM_TOKEN"])
    chosen = OpenAIChatCompletionsModel(model=sys.argv[1], openai_client=AsyncOpenAI())
    print(run(GolemDesk(client), chosen, sys.argv[2]))
