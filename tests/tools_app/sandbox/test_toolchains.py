"""The example module in five languages, built by the page's own lines; in JavaScript and Python to a golem's call.

The compilers of C and Rust come with set-up, the others from their registries, pinned, at their first use.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from permits_app.actions.approve_definition import approve_definition
from permits_app.actions.bring_definition import bring_definition
from tests.architecture.sources import ROOT
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tests.tools_app.sandbox.toolchains import COMMANDS
from tools_app.core import clock
from tools_app.sandbox import compiling
from tools_app.sandbox.compiling import compile_module
from tools_app.sandbox.errors import ModuleRefused

TEMPLATE = ROOT / "tools_app" / "sandbox" / "template"
PAGE = (ROOT / "docs" / "how-to" / "write-a-module.md").read_text()
LINES = [
    line.strip()
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]
PLACES = {"js": "word_count.wasm"} | {each: f"word_count_{each}.wasm" for each in ("c", "rs", "go", "py")}
pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="compilers are pinned for x86-64 Linux"
)


def build(language: str, folder: Path, *, without: str = "") -> Path:
    """The module, built by the lines of the page about it, from copies of the sources they name."""
    made = PLACES[language]
    sources = folder / "tools_app" / "sandbox" / "template"
    if not sources.exists():
        shutil.copytree(TEMPLATE, sources, ignore=shutil.ignore_patterns("__pycache__"))
    for line in [line for line in LINES if re.search(rf"-o {made.removesuffix('.wasm')}(\.core)?\.wasm\b", line)]:
        run_line(line, folder, without)
    return folder / made


def run_line(line: str, folder: Path, without: str) -> None:
    words = [word for word in shlex.split(line) if word != without]
    if words[:2] == ["python", "manage.py"]:
        call_command(*words[2:4], *(str(folder / each) if each.endswith(".wasm") else each for each in words[4:]))
        return
    said = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        said[name] = value
    (start,) = [start for start in COMMANDS if words[: len(start.split())] == start.split()]
    command, environment = COMMANDS[start]()
    ran = subprocess.run(
        [*command, *words[len(start.split()) :]],
        cwd=folder,
        env={**os.environ, **environment, **said},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("language", ["c", "rs", "go"])
def test_a_module_in_another_language_is_built_wrapped_checked_and_counts(language: str, tmp_path: Path) -> None:
    module = build(language, tmp_path)
    told = StringIO()
    call_command("wasm", "check", str(module), str(TEMPLATE / "word_count.toml"), stdout=told)
    assert re.search(r"^imports +log$", told.getvalue(), re.MULTILINE)
    for text, words in [("one two three", 3), (" a  b ", 2), ('x\\"y z', 2), ("one " * 400, 400), ("", 0)]:
        told = StringIO()
        where = str(module), str(TEMPLATE / "word_count.toml")
        call_command("wasm", "run", *where, params=json.dumps({"text": text or " "}), stdout=told)
        assert f'"words": {words}' in told.getvalue() and "log        counting" in told.getvalue()


def bring_and_call(make_agent: MakeAgent, module: Path) -> Any:
    """What an agent of a golem is answered whose owner brought and approved the module."""
    agent = make_agent(categories=("data",))
    row = bring_definition(
        owner=agent.golem.owner,
        definition_text=(TEMPLATE / "word_count.toml").read_text(),
        module=module.read_bytes(),
        now=clock.now(),
    )
    approve_definition(
        definition=row,
        seen_hash=row.definition_hash,
        golem_ids=[agent.golem.pk],
        owner=agent.golem.owner,
        now=clock.now(),
    )
    return lambda: agent.post("query_state", {"query": "word_count", "text": "one two  three"})


def test_a_module_in_javascript_is_built_checked_brought_and_called(make_agent: MakeAgent, tmp_path: Path) -> None:
    module = build("js", tmp_path)
    told = StringIO()
    call_command("wasm", "check", str(module), str(TEMPLATE / "word_count.toml"), stdout=told)
    assert re.search(r"^imports +log$", told.getvalue(), re.MULTILINE)
    answer = bring_and_call(make_agent, module)()
    assert answer.status_code == 200, answer.content
    assert answer.json()["data"]["answer"] == {"untrusted": True, "value": {"words": 3}}, json.dumps(answer.json())


@pytest.mark.timeout(400)
def test_a_module_in_python_is_brought_where_the_operator_allows_it_and_compiled_once(
    make_agent: MakeAgent, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = build("py", tmp_path)
    with pytest.raises(ModuleRefused, match="GOLEM_MODULE_MEBIBYTES"):
        bring_and_call(make_agent, module)
    settings.GOLEM_MODULE_MEBIBYTES = 18
    settings.GOLEM_MODULE_CODE_DIR = tmp_path / "code"
    ask = bring_and_call(make_agent, module)
    # Another process of the installation, which has only what is kept on the disk.
    monkeypatch.setattr(compiling, "_kept", type(compiling._kept)())
    monkeypatch.setattr(compiling, "_compile_outside", lambda _: pytest.fail("it was compiled again"))
    for _ in range(3):
        answer = ask()
        assert answer.status_code == 200, answer.content
        assert answer.json()["data"]["answer"] == {"untrusted": True, "value": {"words": 3}}, json.dumps(answer.json())


def test_built_without_the_stubs_of_wasi_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModuleRefused, match="wasi:"):
        compile_module(build("js", tmp_path, without="--stub-wasi").read_bytes())
