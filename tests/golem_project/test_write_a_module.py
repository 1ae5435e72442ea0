"""What the page about modules tells to type runs as it says, on the golem it names."""

from __future__ import annotations

import re
import shlex
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.architecture.sources import ROOT
from tests.live_golem import LiveGolem
from tools_app.sandbox.interface import HostFunction
from tools_app.sandbox.limits import limits_of
from tools_app.sandbox.module_size import most_module_bytes
from tools_app.toolkit.enums import TickBudget

PAGE = (ROOT / "docs" / "how-to" / "write-a-module.md").read_text()
COMMANDS = [
    line.strip().removeprefix("python manage.py ")
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.strip()
]


def run(command: str) -> str:
    told = StringIO()
    words = shlex.split(command)
    call_command(*[str(ROOT / word) if word.startswith("tools_app/") else word for word in words], stdout=told)
    return told.getvalue()


def test_every_command_of_the_page_runs(live_golem: LiveGolem) -> None:
    told = {command.split()[1]: run(command) for command in COMMANDS}
    assert "package golem:tool@1.0.0" in told["wit"]
    assert "imports    price, progress" in told["check"]
    assert '"action_type": "swap"' in told["run"] and '"usd"' in told["run"]


def test_the_limits_on_the_page_are_those_that_hold() -> None:
    for budget in TickBudget:
        limits = limits_of(budget)
        row = (
            f"| `{budget.name.lower()}` | {limits.fuel:,} | {limits.milliseconds // 1000} s |"
            f" {limits.memory_bytes // 2**20} MiB |"
        )
        assert row in PAGE
        assert limits.host_calls == 200 and limits.answer_bytes == 256 * 1024 and limits.host_bytes == 64 * 1024
    assert most_module_bytes() == 2**23 and "at most 8 MiB" in PAGE


def test_the_interface_names_each_function_of_the_host() -> None:
    told = run("wasm wit")
    assert set(re.findall(r"^  ([a-z-]+): func", told, re.MULTILINE)) == {str(each) for each in HostFunction}


def test_a_module_that_is_none_is_told_in_one_line(tmp_path: object) -> None:
    with pytest.raises(CommandError, match="MODULE_REFUSED"):
        run("wasm check README.md".replace("README.md", str(ROOT / "README.md")))
