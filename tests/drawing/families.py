"""The families of tests of which `make test` runs a part, and what is never drawn.

A family is named here or it runs whole. A part of each is drawn, `one_in`; those with `inputs` are left out altogether
while these files are as they were when all of it passed. The last families are what is slow and belongs to no other:
about money, about whose rows anybody sees, and about neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from tests.durations import read_durations

# Permits, limits, approvals, cages, and the way out of what was gone into.
MONEY: Final = (
    "tests/permits_app/*",
    "tests/contracts/*",
    "tests/catalogue/test_*_halt*",
    "tests/catalogue/test_permits_in_one_block*",
    "tests/catalogue/test_slash_losses*",
    "tests/catalogue/test_two_ways_out*",
    "tests/catalogue/test_what_cannot_be_taken_out*",
    "tests/concurrency/test_left_behind*",
    "tests/concurrency/test_one_that_fails*",
    "tests/golem_project/heartbeat/test_health_alerts*",
    "tests/golem_project/pi/test_actions*",
    "tests/golem_project/pi/test_failing_commits*",
)
# Whose rows anybody sees and changes, and who may come in.
ROWS: Final = (
    "tests/admin/test_every_action*",
    "tests/admin/test_owner_*",
    "tests/admin/test_roles*",
    "tests/admin/test_saved_filters*",
    "tests/admin/test_set_apart*",
    "tests/admin/test_whose_*",
    "tests/golem_project/front/test_logins*",
    "tests/golem_project/people/*",
    "tests/golem_project/pi/test_authentication*",
    "tests/golem_project/pi/test_outages*",
    "tests/golem_project/pi/test_whose_*",
)
# Labels of secrets, how the code is built, what is asked of every tool, and this draw: no draw leaves any of it out.
ALWAYS: Final = (
    "tests/taint/*",
    "tests/architecture/*",
    "tests/catalogue/test_reads*",
    "tests/golem_project/pi/test_schema_is_the_server*",
    "tests/golem_project/pi/test_versions*",
    "tests/golem_project/proof/test_drawing*",
)


@dataclass(frozen=True, slots=True)
class Family:
    """Tests that are expensive together. All of it runs where a file under `whole_when` changed."""

    name: str
    paths: tuple[str, ...]
    one_in: int = 1
    whole_when: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    """Files of it that run whole each time."""
    is_of_examples: bool = False
    """Only what is one test with many parameters is drawn."""
    has_one_of_each_kind: bool = False
    """One test of each protocol runs each time, whichever the draw says."""
    inputs: tuple[str, ...] = ()
    """What its verdict depends on: whole where that changed, left out while it is as it was when all of it passed."""
    is_of_one_of_many: bool = False
    """Of tests marked `one_of_many`, wherever they lie and whatever they are about: of each one example runs."""
    is_of_slow_files: bool = False
    """Only of files that take long, as `tests/durations.json` says."""
    is_guarded: bool = False
    """About money or about whose rows somebody sees: no family that is not may leave out any of its files."""

    def holds(self, path: str) -> bool:
        """Whether the tests of this file may be left out."""
        if self.is_of_slow_files and path not in read_durations():
            return False
        never = ALWAYS if self.is_guarded else (*ALWAYS, *MONEY, *ROWS)
        return _matches(path, self.paths) and not _matches(path, self.always) and not _matches(path, never)


FAMILIES: Final = (
    Family(
        name="browser",
        paths=("tests/browser/test_*",),
        one_in=8,
        always=("tests/browser/test_owner_journey.py",),
        whole_when=("golem_project/static/", "templates/"),
    ),
    Family(
        name="catalogue cases",
        paths=("tests/catalogue/test_cases*.py",),
        one_in=4,
        has_one_of_each_kind=True,
        whole_when=("tools_app/toolkit/", "tools_app/subsystems/lending/"),
    ),
    Family(
        name="catalogue adversaries",
        paths=(
            "tests/catalogue/test_adversaries.py",
            "tests/catalogue/test_a_node_lies_about_health.py",
            "tests/catalogue/test_at_the_door.py",
            "tests/catalogue/test_ten_jobs.py",
            "tests/catalogue/test_the_suite_can_fail.py",
        ),
        one_in=8,
        has_one_of_each_kind=True,
        whole_when=("tools_app/toolkit/",),
    ),
    Family(
        name="protocols",
        paths=("tests/tools_app/protocols/*",),
        one_in=8,
        whole_when=("tools_app/toolkit/", "tools_app/portfolio/"),
    ),
    Family(
        # Before the next one, which would hold them too: each of these costs what a protocol may cost in all.
        name="crashes of orders",
        paths=(
            "tests/concurrency/test_killed_orders*",
            "tests/concurrency/test_killed_followers_of_orders*",
            "tests/concurrency/test_killed_halt_of_orders*",
        ),
        one_in=12,
        whole_when=(
            "permits_app/actions/check_signed_promises.py",
            "permits_app/actions/check_pending_requests.py",
            "permits_app/actions/hand_in_promise.py",
            "permits_app/execution/order_cancelling.py",
            "permits_app/execution/promise_cancelling.py",
            "permits_app/execution/sign_promise.py",
            "permits_app/limits/pending_requests.py",
            "permits_app/limits/signed_promises.py",
        ),
    ),
    Family(
        name="crashes",
        paths=(
            "tests/concurrency/test_killed_*",
            "tests/concurrency/test_hooks_in_chaos.py",
            "tests/concurrency/test_every_task_twice.py",
            "tests/golem_project/heartbeat/test_killed_*",
        ),
        one_in=3,
        whole_when=(
            "permits_app/actions/",
            "permits_app/execution/",
            "permits_app/halts/",
            "permits_app/tasks.py",
            "golem_project/heartbeat/",
        ),
    ),
    Family(
        name="crashes that move no money",
        paths=("tests/golem_project/stream/test_killed_*", "tests/golem_project/world/test_killed_*"),
        one_in=8,
        whole_when=("golem_project/stream/", "golem_project/embedded/"),
    ),
    Family(
        name="adversaries' examples",
        paths=("tests/adversary/*",),
        one_in=3,
        is_of_examples=True,
        whole_when=("permits_app/safety/", "permits_app/limits/"),
    ),
    Family(
        name="walks and what proofs prove",
        paths=("tests/golem_project/proof/*", "tests/golem_project/heartbeat/test_*walk*"),
        one_in=8,
        whole_when=("tests/proof/", "tests/bench/"),
    ),
    Family(
        name="servers that start",
        paths=(
            "tests/golem_project/embedded/*",
            "tests/golem_project/test_start_conditions.py",
            "tests/golem_project/test_pooler.py",
            "tests/golem_project/test_warm_workers.py",
        ),
        one_in=8,
        whole_when=(
            "golem_project/embedded/",
            "golem_project/settings/",
            "golem_project/runtime/start_conditions.py",
            "Makefile",
        ),
    ),
    Family(
        name="toolchains",
        paths=("tests/tools_app/sandbox/test_toolchains.py",),
        one_in=6,
        inputs=("tools_app/sandbox/", "tests/tools_app/sandbox/", "docs/how-to/write-a-module.md", "packages.lock"),
    ),
    Family(
        name="Solidity compiled anew",
        paths=("tests/golem_project/world/test_solidity.py",),
        one_in=6,
        inputs=("contracts/", "golem_project/embedded/world/", "tests/golem_project/world/test_solidity.py"),
    ),
    Family(
        name="clients",
        paths=("tests/clients/*",),
        one_in=6,
        inputs=(
            "clients/",
            "tests/clients/",
            "golem_project/pi/",
            "golem_project/front/",
            "docs/how-to/",
            "packages.lock",
        ),
    ),
    Family(
        name="examples of one test",
        paths=(),
        is_of_one_of_many=True,
        whole_when=(
            "contracts/",
            "permits_app/",
            "tools_app/chain/",
            "tools_app/protocols/",
            "tools_app/simulation/",
            "tools_app/toolkit/",
            "tests/permits_app/safety/",
        ),
    ),
    Family(
        name="slow tests about money",
        paths=MONEY,
        one_in=4,
        is_of_slow_files=True,
        is_guarded=True,
        whole_when=(
            "contracts/",
            "permits_app/",
            "tools_app/chain/",
            "tools_app/portfolio/",
            "tools_app/simulation/",
            "tools_app/toolkit/",
            "golem_project/embedded/world/",
        ),
    ),
    Family(
        name="slow tests of whose rows",
        paths=ROWS,
        one_in=4,
        is_of_slow_files=True,
        is_guarded=True,
        whole_when=("archetypes_app/", "golem_project/", "memory_app/", "permits_app/", "tools_app/admin/"),
    ),
    Family(name="other slow tests", paths=("tests/*",), one_in=8, is_of_slow_files=True),
)


OF_ONE_OF_MANY: Final = next(family for family in FAMILIES if family.is_of_one_of_many)


@cache
def find_family(path: str) -> Family | None:
    """The family of a test file, None for what always runs."""
    return next((family for family in FAMILIES if family.holds(path)), None)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
