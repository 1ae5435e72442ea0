"""Names that say nothing, files that hold too much, and the layout of the checkout."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

from tests.architecture.sources import ROOT, list_sources, list_tracked, parse

_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "service", "handler", "handlers"}
_MOST_STATEMENTS = 250
_LONGER: dict[str, str] = {
    "archetypes_app/forms.py": "the forms of what an owner decides, each with the type of what it was given",
    "permits_app/admin/tool_definitions.py": "one page for each step of a brought tool, with what its form gives",
    "tools_app/protocols/uniswap/markets.py": "one protocol's three versions of pools, read by one reader",
    "tests/tools_app/core/test_audit_archives.py": "each way in which an archive of the audit log may be wrong",
    "golem_project/embedded/bootstrap.py": "set-up may import nothing of ours, so each of its steps stands in it",
    "permits_app/reviewers/safety_guardian.py": "what bytes do, and each way in which the plan may say otherwise",
    "tests/golem_project/a2a/test_x402_endpoint.py": "one sale, from its price to each end that it can have",
    "tests/golem_project/a2a/test_the_kits_must_cases.py": "one list of cases, and each test that only it brought",
    "tools_app/protocols/uniswap/effects.py": "every byte that may be sent to one protocol, read by one reader",
    "tools_app/protocols/uniswap/tools/joint_steps.py": "rebalance, compound and batch share the steps they join",
    "tests/contracts/holdings_in_simulated_contracts.py": "what is said at every simulated contract, a line for each",
    "tests/browser/test_sixteen_journeys.py": "one served product and each journey through it: a second is dear",
    "tests/permits_app/test_capabilities.py": "one token and each way in which it may not be used",
    "tests/permits_app/test_ledger.py": "one ledger and each window of it, at its edges",
    "tests/permits_app/test_pending_requests.py": "one request's life, and every end that it can have",
    "tests/permits_app/test_signed_promises.py": "one maker's promises, from the signature to each end",
    "tests/tools_app/protocols/uniswap_x/test_orders.py": "one order's life, and every end that it can have",
    "tests/tools_app/protocols/pendle/test_limit_orders.py": "one limit order's life, and every end that it can have",
    "tests/permits_app/approvals/test_pages.py": "every page of asking and deciding, as its people open it",
    "tests/permits_app/policy_cage/test_safe_that_stands_open.py": "one theft, from its cause to its closing",
    "tests/proof/ten_thousand.py": "one day of one fleet, from its first row to the plan that follows from it",
    "permits_app/limits/pending_requests.py": "the one writer of a row, with each way in which it may end",
    "permits_app/safety/hooks/simulator.py": "one judgement after the other about the same run, in their order",
    "tests/golem_project/test_set_back_clocks.py": "one kind: what a clock that went back leaves or lengthens",
    "tests/permits_app/execution/test_lost_sequences.py": "one kind: every way in which a call of a plan is lost",
    "tests/golem_project/world/test_chain.py": "one chain's life: started, kept, killed under load, started again",
    "permits_app/gas_relayer.py": "one key's life: what it may send, what it sent, and what became of it",
    "tests/concurrency/test_stuck_accounts.py": "one account after the other that stands still, and how each goes on",
    "tests/tools_app/protocols/liquid_restaking/test_restaked_ether.py": "three issuers, each way in and out",
    "tests/concurrency/test_every_task_twice.py": "one table: every task, and what holds when it ran twice",
    "permits_app/actions/halt.py": "one halt from its order to its report, step after step",
    "tools_app/chain/reader.py": "one pinned block and every question that may be asked of it",
    "tools_app/simulation/pyevm/interpreter.py": "one interpreter: the instructions that differ, each under its number",
    "tests/golem_project/embedded/test_stack.py": "one supervisor and each way in which what it runs may end",
    "golem_project/embedded/stack.py": "one list of the servers of a checkout, each with how it starts and ends",
    "permits_app/policy_cage/contract.py": "the binding of one contract: its words, its calls and its answers",
    "tests/permits_app/execution/test_caged_golem.py": "the life of one plan behind a cage",
    "tests/permits_app/execution/test_plans_end_by_time.py": "the end of one plan, on each way that it may go",
    "tests/tools_app/subsystems/stream/test_streams.py": "one stream after the other on the same pool",
    "tests/golem_project/people/test_stopped_accounts.py": "one account that ends, at each door it had",
    "tests/permits_app/approvals/test_waiting_permits.py": "one permit that waits, in each way it may end",
    "tests/permits_app/approvals/test_cage_changes.py": "one change of the contract, from its wish to its execution",
    "tests/proof/drawn_session.py": "one run that weaves, asks and tells: its steps share the state of that run",
    "tools_app/toolkit/protocol.py": "what a protocol says of itself, member by member, and the shelf of all of them",
}
_LAYOUT = {
    "manage.py",
    "requirements.txt",
    "requirements-turbo.txt",
    "constraints.txt",
    "packages.lock",
    "pyproject.toml",
    "Makefile",
    "compose.yaml",
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "LICENSE",
    ".gitignore",
    ".env.example",
    ".ci",
    ".github",
    ".githooks",
    "golem_project",
    "tools_app",
    "archetypes_app",
    "permits_app",
    "memory_app",
    "templates",
    "tests",
    "docs",
    "contracts",
    "clients",
    "deploy",
}
_REQUIRED = {
    "manage.py",
    "requirements.txt",
    "golem_project",
    "tools_app",
    "archetypes_app",
    "permits_app",
    "memory_app",
    "templates",
    "tests",
    "README.md",
}


def test_no_module_has_a_name_that_says_nothing() -> None:
    found = {
        path
        for path in list_tracked()
        if path.endswith(".py") and {*PurePosixPath(path).parent.parts, PurePosixPath(path).stem} & _SAY_NOTHING
    }
    assert found == set()


def test_no_class_name_stands_twice_outside_different_protocols() -> None:
    """Whoever reads of a `Found` or a `Told` knows which one."""
    homes: dict[str, list[str]] = {}
    files: dict[str, list[str]] = {}
    for path in list_sources():
        for node in parse(path).body:
            if isinstance(node, ast.ClassDef) and node.name != "Command":
                homes.setdefault(node.name, []).append(_find_home(path))
                files.setdefault(node.name, []).append(path)
    twice = {
        name
        for name, found in homes.items()
        if len(found) > 1 and (len(set(found)) < len(found) or not all("protocols/" in home for home in found))
        if not (found.count("the local world") >= len(found) - 1)
    }
    assert not twice, [f"rename yours: {name} stands in {files[name]}" for name in sorted(twice)]


def _find_home(path: str) -> str:
    if "/embedded/world/" in path:
        return "the local world"
    parts = path.split("/")
    return "/".join(parts[:3]) if path.startswith("tools_app/protocols/") else "the product"


def test_files_of_many_statements_are_listed_with_a_reason() -> None:
    long = {
        path
        for path in list_tracked()
        if path.endswith(".py") and "/migrations/" not in path and _count_statements(path) > _MOST_STATEMENTS
    }
    assert long == set(_LONGER)
    assert all(len(reason) > 20 for reason in _LONGER.values())


def test_the_formatter_is_never_switched_off() -> None:
    switched = re.compile(r"#\s*(fmt|yapf):\s*(skip|off)")
    found = {path for path in list_tracked() if path.endswith(".py") and switched.search((ROOT / path).read_text())}
    assert found == set()


def test_the_top_of_the_checkout_is_as_decided() -> None:
    top = {path.split("/")[0] for path in list_tracked()}
    assert top <= _LAYOUT
    assert top >= _REQUIRED


def _count_statements(path: str) -> int:
    """Statements, not lines: what the formatter makes of them says nothing about how much a file holds."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse((ROOT / path).read_text())))
