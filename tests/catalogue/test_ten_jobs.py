"""An agent that only browses and loads does ten different jobs, with no tool loaded when it begins.

It knows what it wants in plain words and the figures of it. It knows no category, no tool, no venue and no parameter's
owner: it reads them from what the server answers, as any model would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from archetypes_app.models import ApiKey, ToolProfile
from archetypes_app.tool_loadout import MOST_TOOLS
from permits_app.models import OutcomeRecord
from tests.catalogue.door import CASES, Door


@dataclass(frozen=True)
class Job:
    """What is wanted: a word for its field, words for the tool, and its figures: those of a case or `facts`."""

    about: str
    words: tuple[str, ...]
    case: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def worlds(self) -> tuple[str, ...]:
        return CASES[self.case].worlds if self.case else ()


WRITES = {
    "lend WETH at Aave": Job("supply", ("Lend an asset", "Aave"), "aave_supply"),
    "borrow against it": Job("borrow", ("Borrow an asset", "Aave"), "aave_borrow"),
    "lend at SparkLend": Job("supply", ("Lend an asset", "Spark"), "spark_supply"),
    "lend into a Morpho market": Job("supply", ("Lend into", "Morpho"), "morpho_supply_market"),
    "open a Maker vault": Job("borrow", ("Open", "Maker vault"), "maker_open_vault"),
    "put USDC into a vault": Job("vaults", ("Deposit",), "vault_deposit"),
    "stake with Lido": Job("staking", ("Stake ETH", "Lido"), "lido_stake"),
    "stake with Rocket Pool": Job("staking", ("Stake ETH", "Rocket"), "rocketpool_stake"),
    "build a leverage loop": Job("loops", ("Build a leverage loop",), "lending_execute_leverage_loop"),
}
READS = {
    "what gas costs": Job("gas", ("what gas costs",)),
    "who pays most for USDC": Job("supply", ("What every lender",), facts={"asset": "USDC", "rate_type": "supply"}),
    "what the golem remembers": Job("episodes", ("How many episodes",)),
}


@dataclass
class Browser:
    """The scripted agent."""

    door: Door

    def ask(self, **body: Any) -> dict[str, Any]:
        answer = self.door.post("query_state", body)
        assert answer["http"] == 200, answer
        found: dict[str, Any] = answer["data"]
        return found

    def find(self, job: Job) -> str:
        """The one tool whose line says what is wanted, in the one category whose line does."""
        categories = self.ask(query="browse_tools")["categories"]
        names = [each["name"] for each in categories if job.about in each["description"]]
        found = [
            tool
            for name in names
            for tool, line in self._pages(name)
            if all(word.lower() in line.lower() for word in job.words)
        ]
        assert len(found) == 1, (job, names, found)
        return found[0]

    def _pages(self, category: str) -> Iterator[tuple[str, str]]:
        page: dict[str, Any] = {"next_cursor": None}
        while "next_cursor" in page:
            page = self.ask(query="browse_tools", category=category, cursor=page["next_cursor"])
            yield from page["tools"].items()

    def load(self, tool: str) -> dict[str, Any]:
        """How the tool is called."""
        (told,) = self.ask(query="load_tools", tools=[tool])["tools_added"]
        assert told["tool"] == tool
        call: dict[str, Any] = told
        return call

    def call(self, told: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
        """The call as the loading told it, with what is known."""
        assert set(told["needs"]) <= set(facts), told
        words: dict[str, Any] = {name: told[name] for name in ("query", "action_type", "read", "venue") if name in told}
        return self.door.post(told["call"], {**words, **facts})


@pytest.fixture
def browser(door: Door) -> Browser:
    """Every category is the golem's, and its key is an ordinary one with nothing loaded."""
    golem = door.agent.golem
    golem.profiles.set(ToolProfile.objects.filter(name="full"))
    ApiKey.objects.filter(pk=door.agent.key.key.pk).update(most_tools=MOST_TOOLS, loaded_tools=[])
    return Browser(door)


def begin(browser: Browser, job: Job) -> dict[str, Any]:
    """Find the tool, see that it is not there yet, load it."""
    tool = browser.find(job)
    tiers = browser.door.agent.get("manifest").json()["tiers"]
    assert tiers["loaded"] == [] and tool not in tiers["core"]
    told = browser.load(tool)
    assert browser.door.agent.get("manifest").json()["tiers"]["loaded"] == [tool]
    return told


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.protocols(*job.worlds)) for name, job in WRITES.items()]
)
def test_a_job_that_moves_money_is_browsed_for_loaded_and_done(browser: Browser, name: str) -> None:
    job, door = WRITES[name], browser.door
    case = CASES[job.case].case
    told = begin(browser, job)
    assert told["tool"] == case.tool
    door.stage.prepare(case)
    ended = door.commit(browser.call(told, door.stage.params(case)))
    assert ended["status"] == "COMMITTED", ended
    assert OutcomeRecord.objects.get(permit_id=ended["permit_id"]).is_verified


@pytest.mark.parametrize("name", READS)
def test_a_question_is_browsed_for_loaded_and_answered(browser: Browser, name: str) -> None:
    job = READS[name]
    answer = browser.call(begin(browser, job), job.facts)
    assert answer["http"] == 200, answer
    assert answer["data"]


@pytest.mark.protocols(*{world for job in WRITES.values() for world in job.worlds})
def test_one_key_does_all_of_them_and_never_shows_more_than_its_ceiling(browser: Browser) -> None:
    jobs = [*WRITES.values(), *READS.values()]
    assert len(jobs) >= 10
    dropped: list[str] = []
    for job in jobs:
        loaded = browser.ask(query="load_tools", tools=[browser.find(job)])
        dropped += loaded.get("dropped", [])
        told = loaded["tools_added"][0]
        tiers = browser.door.agent.get("manifest").json()["tiers"]
        assert len(tiers["core"]) + len(tiers["loaded"]) <= MOST_TOOLS
        if not job.case:
            assert browser.call(told, job.facts)["http"] == 200
            continue
        case = CASES[job.case].case
        browser.door.stage.prepare(case)
        permit = browser.call(told, browser.door.stage.params(case))
        assert permit["http"] == 200, permit
        browser.door.post("cancel_action", {"permit_id": permit["permit_id"], "reason": "only shown"})
    # Twelve jobs and a core do not fit: what was used longest ago gave way.
    assert dropped == [browser.find(job) for job in jobs][: len(dropped)] and dropped
