"""What only one module may do is done there only. Read from the syntax, so a slip fails before it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.sources import dotted, parse, walk

_CHANGES = {"change_rows", "fill_change"}
_WRITES = {"update", "create", "acreate", "bulk_create", "update_or_create", "get_or_create", "bulk_update"}

# What else is called `status`, each file with what it writes.
_OTHER_STATUS = {
    "golem_project/pi/idempotency.py": "IdempotencyRecord",
    "golem_project/pi/exception_handler.py": "the HTTP status of a response",
}
# Fills throw-away databases with finished rows to measure against; never reached by a request.
_MEASURING = ("tests/bench/", "tests/proof/")
_ALLOWED_STATUS = {"permits_app/permits/lifecycle.py"}

_REVEALERS = {
    "golem_project/owner_pages/faucet_page.py",
    "golem_project/runtime/local_faucet.py",
    "golem_project/a2a/card_key.py",
    "golem_project/a2a/payment_gas_account.py",
    "golem_project/alerts/push_key.py",
    "golem_project/alerts/sending.py",
    "golem_project/coding/ssh_keys.py",
    "golem_project/heartbeat/thinking/model_exchange.py",
    "golem_project/outside/service_client.py",
    "golem_project/stream/admin.py",
    "permits_app/admin/people_pages.py",
    "golem_project/stream/sealed_secrets.py",
    "tools_app/core/audit_key.py",
    "permits_app/custody/signers/aws_kms.py",
    "permits_app/custody/signers/bundler.py",
    "tools_app/history/hypersync_filling.py",
    "permits_app/custody/signers/keystore.py",
    "permits_app/custody/signers/local.py",
    "permits_app/custody/signers/privy.py",
    "permits_app/custody/signers/turnkey.py",
    "tools_app/chain/rpc.py",
    "tools_app/standards/x402/facilitator.py",
}
_CLOCKS = {
    "datetime.now",
    "datetime.datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
    "datetime.date.today",
    "timezone.now",
    "time.time",
    "time.time_ns",
}
_SENDERS = ("permits_app/execution/", "golem_project/embedded/")
# The chain in process answers the method and reaches no node; the others play a node that lies or keeps what it got.
_ANSWERS_SENDING = {
    "tools_app/simulation/pyevm/in_process_web3_provider.py",
    "tools_app/chain/answer_shapes.py",
    "tests/bench/stuck.py",
    "tests/proof/lies.py",
    "tests/proof/told_lies.py",
}


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _find_field_writes(field: str) -> Iterator[str]:
    for path, node in walk(skip=_MEASURING):
        for target in _targets(node):
            if isinstance(target, ast.Attribute) and target.attr == field and dotted(target.value) != "self":
                yield path
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _WRITES:
            written = {keyword.arg for keyword in node.keywords}
            is_lookup = node.func.attr in {"get_or_create"}
            if field in written and not is_lookup and node.func.attr == "update":
                yield path
        if isinstance(node, ast.Call) and dotted(node.func) in _CHANGES and field in {key.arg for key in node.keywords}:
            yield path


def test_only_the_lifecycle_writes_the_status_of_a_permit() -> None:
    writers = set(_find_field_writes("status")) - set(_OTHER_STATUS)
    assert writers == _ALLOWED_STATUS


def test_only_the_mint_consumes_a_capability() -> None:
    in_sql = {
        path
        for path, node in walk(skip=_MEASURING)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "SET consumed_at" in node.value
    }
    assert {*_find_field_writes("consumed_at"), *in_sql} == {"permits_app/permits/capabilities.py"}


def test_only_the_audit_log_creates_audit_entries() -> None:
    makers = {
        path
        for path, node in walk(skip=_MEASURING)
        if isinstance(node, ast.Call)
        and (
            dotted(node.func) == "AuditEntry"
            or (dotted(node.func).startswith("AuditEntry.objects.") and dotted(node.func).split(".")[-1] in _WRITES)
        )
    }
    # The export rebuilds entries from a file to verify them; the next test sees that it stores none.
    # What is read from an export or an archive is made again in memory, to be checked.
    assert makers == {f"tools_app/core/{name}.py" for name in ("audit_log", "audit_export", "audit_archives")}


def test_the_audit_export_stores_nothing() -> None:
    calls = {
        node.func.attr
        for node in ast.walk(parse("tools_app/core/audit_export.py"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert calls and not calls & (_WRITES | {"save", "asave"})


def test_only_the_executor_and_the_local_world_send_transactions() -> None:
    senders = {
        path for path, node in walk() if isinstance(node, ast.Constant) and node.value == "eth_sendRawTransaction"
    }
    assert "permits_app/execution/broadcast.py" in senders
    assert {path for path in senders if not path.startswith(_SENDERS)} <= _ANSWERS_SENDING


def test_secrets_are_revealed_only_where_they_are_used() -> None:
    revealers = {
        path
        for path, node in walk()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reveal"
    }
    assert revealers == _REVEALERS


def test_only_the_clock_module_reads_the_system_clock() -> None:
    readers = {
        f"{path}:{node.lineno}"
        for path, node in walk(skip=("golem_project/embedded/", "tools_app/core/clock.py"))
        if isinstance(node, ast.Attribute) and dotted(node) in _CLOCKS
    }
    assert readers == set()


def test_no_broad_except_swallows_what_it_caught() -> None:
    silent = set()
    for path, node in walk():
        if not isinstance(node, ast.ExceptHandler):
            continue
        broad = node.type is None or dotted(node.type) in {"Exception", "BaseException"}
        if broad and all(isinstance(step, ast.Pass | ast.Continue) for step in node.body):
            silent.add(f"{path}:{node.lineno}")
    assert silent == set()


def test_no_setting_has_a_second_default() -> None:
    seconds = {
        f"{path}:{node.lineno}"
        for path, node in walk()
        if isinstance(node, ast.Call)
        and dotted(node.func) == "getattr"
        and node.args
        and dotted(node.args[0]) == "settings"
    }
    assert seconds == set()


@pytest.mark.parametrize("source", ["permit.status = x", "rows.update(status=x)"])
def test_the_reader_of_these_rules_sees_a_breach(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.parse(source)
    monkeypatch.setattr(
        "tests.architecture.test_single_writers.walk", lambda **_: (("here.py", node) for node in ast.walk(tree))
    )
    assert set(_find_field_writes("status")) == {"here.py"}
