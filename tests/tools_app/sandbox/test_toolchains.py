"""The example module in JavaScript, built as the page says, from the upload to a golem's call; and the one in C.

What JavaScript is built with comes from the npm registry at set-up, pinned by its lock (13 MB, six seconds). The
compiler of C has 411 MB, so that what it made is kept as text, and run.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import fetch_packages, load_lock
from golem_project.embedded.npm_tree import newest_node
from permits_app.actions.approve_definition import approve_definition
from permits_app.actions.bring_definition import bring_definition
from tests.architecture.sources import ROOT
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.pi.conftest import make_agent as make_agent
from tools_app.core import clock
from tools_app.sandbox.compiling import compile_module
from tools_app.sandbox.errors import ModuleRefused

LOCK = Path(__file__).with_name("javascript_packages.json")
TEMPLATE = ROOT / "tools_app" / "sandbox" / "template"
PAGE = (ROOT / "docs" / "how-to" / "write-a-module.md").read_text()
(LINE,) = re.findall(r"^ *npx (componentize-qjs .*)$", PAGE, re.MULTILINE)
ONLY_HERE = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="its compiler is pinned for x86-64 Linux"
)


def build(folder: Path, *, without: str = "") -> Path:
    """The module, built by the page's own line; without a network the test is skipped, but on the build machine."""
    packages = load_lock(LOCK)
    try:
        found = fetch_packages(packages.values())
    except EmbeddedError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"not run: {error}")
    words = [word for word in shlex.split(LINE)[1:] if word != without]
    words = [str(ROOT / word) if word.startswith("tools_app/") else word for word in words]
    binding = packages["binding"]
    ran = subprocess.run(
        [newest_node(), str(found["componentize-qjs"] / "bin" / "componentize-qjs"), *words],
        cwd=folder,
        env={**os.environ, "NAPI_RS_NATIVE_LIBRARY_PATH": str(found[binding.name] / binding.keep[0])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder / "word_count.wasm"


@ONLY_HERE
def test_a_module_in_javascript_is_built_checked_brought_and_called(make_agent: MakeAgent, tmp_path: Path) -> None:
    module = build(tmp_path)
    told = StringIO()
    call_command("wasm", "check", str(module), str(TEMPLATE / "word_count.toml"), stdout=told)
    assert re.search(r"^imports +log$", told.getvalue(), re.MULTILINE)
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
    answer = agent.post("query_state", {"query": "word_count", "text": "one two  three"})
    assert answer.status_code == 200, answer.content
    assert answer.json()["data"]["answer"] == {"untrusted": True, "value": {"words": 3}}, json.dumps(answer.json())


@ONLY_HERE
def test_built_without_the_stubs_of_wasi_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModuleRefused, match="wasi:"):
        compile_module(build(tmp_path, without="--stub-wasi").read_bytes())


@pytest.mark.parametrize(("text", "words"), [("one two three", 3), (" a  b ", 2), ('x"y z', 2), ("one", 1)])
def test_what_was_built_from_c_counts_words_too(text: str, words: int) -> None:
    told = StringIO()
    where = str(TEMPLATE / "word_count_c.wat"), str(TEMPLATE / "word_count.toml")
    call_command("wasm", "run", *where, params=json.dumps({"text": text}), stdout=told)
    assert f'"words": {words}' in told.getvalue() and "log        counting" in told.getvalue()
