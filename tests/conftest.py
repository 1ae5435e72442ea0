"""Plugins of the whole suite; `tests.services` comes before the settings are read and is named in pyproject.toml."""

from __future__ import annotations

import os
import random
import ssl
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import certifi
import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.among_others",
    "tests.coding_agent",
    "tests.drawing.plugin",
    "tests.emptied_database",
    "tests.evm.world",
    "tests.live_golem",
    "tests.longest_first",
    "tests.lying_chain",
    "tests.made_up_bank.on_the_shelf",
    "tests.made_up_bond.on_the_shelf",
    "tests.made_up_cards.on_the_shelf",
    "tests.made_up_comet.on_the_shelf",
    "tests.made_up_gauge.on_the_shelf",
    "tests.made_up_keeper.on_the_shelf",
    "tests.made_up_pools.on_the_shelf",
    "tests.made_up_purse.on_the_shelf",
    "tests.migrated_database",
    "tests.receiver",
    "tests.second_chain",
    "tests.made_up_bridge.on_the_shelf",
    "tests.sshd",
    "tests.watched_locks",
]

# A busy machine fails no property, and the build machine tries the same examples each time.
settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI", "").lower() == "true",
)
# Drawn by chance and ten times as many: `make proof` asks for it.
settings.register_profile("random", settings.get_profile("suite"), max_examples=1_000, derandomize=False)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def gas_limits_are_forgotten_between_tests() -> Iterator[None]:
    """What a process remembers of calls that fitted would let one test decide how often another's calls are run."""
    yield
    rehearsal = sys.modules.get("permits_app.safety.final_simulation")
    if rehearsal is not None:
        rehearsal.LIMITS.clear()


@pytest.fixture(autouse=True)
def results_may_be_waited_for() -> Iterator[None]:
    """Tasks that run at once in several threads end in any order, and the last may leave Celery's one mark of this
    process as if a task ran still: the next test that waits for a worker's answer would be refused.
    """
    yield
    state = sys.modules.get("celery._state")
    if state is not None:
        state._set_task_join_will_block(False)


@pytest.fixture(autouse=True)
def each_test_begins_at_the_machines_time() -> Iterator[None]:
    yield
    passing = sys.modules.get("tests.passing_time")
    if passing is not None:
        passing.come_back()


@pytest.fixture(scope="session", autouse=True)
def root_certificates_are_read_once() -> Iterator[None]:
    """Every call with `httpx.get` reads all of them, for an address of this machine too: 20 ms of processor time."""
    plain = ssl.create_default_context

    @cache
    def of_certifi() -> ssl.SSLContext:
        return plain(cafile=certifi.where())

    def create(*given: Any, **options: Any) -> ssl.SSLContext:
        is_plain = not given and options == {"cafile": certifi.where()}
        return of_certifi() if is_plain else plain(*given, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", create)
        yield


# What asks for a chain, a committed database or a browser takes its time, and so does what starts processes.
_SLOW_FIXTURES = {"world", "second_world", "transactional_db", "live_server"}
_SLOW_PLACES = (
    "tests/admin/test_owner_scope.py",
    "tests/concurrency/",
    "tests/contracts/",
    "tests/golem_project/embedded/",
    "tests/golem_project/proof/",
    "tests/golem_project/test_start_conditions.py",
    "tests/golem_project/test_warm_workers.py",
    "tests/golem_project/world/",
    "tests/memory_app/test_archive.py",
    "tests/memory_app/test_labelled.py",
    "tests/permits_app/policy_cage/test_preflight.py",
    "tests/tools_app/sandbox/test_hostile_modules.py",
    "tests/tools_app/sandbox/test_toolchains.py",
)


def is_slow(item: pytest.Item) -> bool:
    """Whether `make test-fast` leaves a test out."""
    mark = item.get_closest_marker("django_db")
    return (
        item.get_closest_marker("browser") is not None
        or bool(_SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())))
        or bool(mark and mark.kwargs.get("transaction"))
        or item.nodeid.startswith(_SLOW_PLACES)
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what is slow, before `-m` chooses by the mark."""
    if is_slow(item):
        item.add_marker("slow")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle files and their tests by GOLEM_TEST_SEED, if there is one; after every other order.

    Browser tests come last: Playwright's event loop stays in the main thread once it has begun.
    """
    seed = os.environ.get("GOLEM_TEST_SEED")
    if seed:
        chance = random.Random(seed)  # each worker of a run draws the same
        files = {item.location[0]: chance.random() for item in items}
        drawn = {id(item): chance.random() for item in items}
        items.sort(key=lambda item: (files[item.location[0]], drawn[id(item)]))
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
