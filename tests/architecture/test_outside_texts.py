"""What others wrote is read by one parser; whoever else reads JSON or TOML says whose it is."""

from __future__ import annotations

import ast

from tests.architecture.sources import dotted, walk

_READERS = {
    "json.load",
    "json.loads",
    "tomllib.load",
    "tomllib.loads",
    "from_json",
    "pydantic_core.from_json",
    "orjson.loads",
    "yaml.safe_load",
}

# Processes that this server started, files of this repository, measurements.
_OUR_OWN = ("golem_project/embedded/", "tests/bench/", "golem_project/demo/", "tests/proof/")
_REASONS = {
    "tools_app/core/bounded_parsing.py": "the one parser",
    "tools_app/chain/rpc.py": "the same parser, which counts levels itself, on the path of every preview",
    "golem_project/pi/parsers.py": "counts levels and bytes itself, before it parses",
    "golem_project/pi/mcp_door.py": "an answer of ours, from the interface in the same process",
    "golem_project/metrics/counting.py": "names of counts, which processes of ours wrote",
    "golem_project/runtime/queue_waits.py": "messages of tasks, which processes of ours sent",
    "golem_project/backups/manifest.py": "a file that an operator restores from, which names no more than files",
    "golem_project/pi/internal_call.py": "an answer of ours, from a view of this process",
    "golem_project/pi/idempotency.py": "an answer of ours, from our database",
    "golem_project/management/commands/snapshots.py": "a file of this repository",
    "golem_project/pi/released_shapes.py": "files of this repository",
    "golem_project/upgrades/columns.py": "files of this repository",
    "golem_project/pi/schema_lines.py": "what it has just written",
    "golem_project/pi/openapi_tools.py": "what it has just written",
    "golem_project/front/password_process.py": "what the server that began it has just written",
    "golem_project/status.py": "packages of this repository",
    "golem_project/alerts/sending.py": "what this server sealed",
    "golem_project/stream/event_pages.py": "events of ours, from our database",
    "tools_app/core/event_body.py": "events of ours, from our database",
    "golem_project/stream/deliveries.py": "events of ours, from our database",
    "golem_project/heartbeat/tick_claims.py": "a column of our database",
    "golem_project/heartbeat/permit_facts.py": "a column of our database",
    "permits_app/limits/policy.py": "a column of our database",
    "permits_app/safety/load_call_records.py": "a column of our database",
    "permits_app/custody/signers/keystore.py": "a key file this server wrote",
    "permits_app/management/commands/verify_request.py": "what it has just written",
    "tools_app/chain/deployments.py": "a file of this repository",
    "tools_app/simulation/revm_screening/screening.py": "answers of the worker it started",
    "tools_app/simulation/revm_screening/state_server.py": "questions of the worker it started",
    "tools_app/simulation/revm_screening/worker.py": "orders of the process that started it; imports nothing of ours",
}


def test_only_who_says_why_reads_json_without_bounds() -> None:
    found = set()
    for path, node in walk(skip=_OUR_OWN):
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name in _READERS or (isinstance(node.func, ast.Attribute) and node.func.attr == "json" and not node.args):
            found.add(path)
    assert found == set(_REASONS), found ^ set(_REASONS)
