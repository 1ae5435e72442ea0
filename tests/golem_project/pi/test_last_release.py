"""A client that was written for the last version works: what it sends is taken, and what it reads is answered."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from golem_project.pi.internal_call import call_tool
from golem_project.pi.released_shapes import (
    Release,
    describe_answer,
    describe_paths,
    describe_tools,
    find_broken,
    list_served,
    load_releases,
)
from tests.architecture.sources import ROOT
from tests.catalogue.door import Door
from tests.catalogue.door import door as door
from tools_app.toolkit.registry import REGISTRY

RELEASES = load_releases()
FIRST = RELEASES[0]
SWAP = {"action_type": "swap", "venue": "uniswap", "token_in": "USDC", "token_out": "WETH", "amount": "500000000"}


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    return describe_paths(SchemaGenerator().get_schema(request=None, public=True))


def is_answered(told: Any, wanted: Any) -> list[str]:
    """Members that a client of the release reads and `told` lacks; a list is looked at by its first."""
    if isinstance(told, list):
        told = told[0] if told else wanted
    if not isinstance(wanted, dict) or not isinstance(told, dict):
        # A sum is told as text, with its units beside it.
        return []
    lost = [name for name in wanted if name not in told]
    for name in set(wanted) - set(lost):
        lost += [f"{name}.{each}" for each in is_answered(told[name], wanted[name])]
    return lost


@pytest.mark.parametrize("release", RELEASES, ids=lambda each: each.version)
def test_what_a_release_took_is_taken_and_what_it_answered_is_answered(release: Release, paths: dict[str, Any]) -> None:
    assert len(release.tools) >= 26 and len(release.paths) >= 11
    assert find_broken(release, registry=REGISTRY, paths=paths) == []


@pytest.mark.parametrize("release", RELEASES, ids=lambda each: each.version)
def test_a_client_of_each_version_quotes_previews_commits_and_reads_every_member_it_knew(
    door: Door, release: Release
) -> None:
    """The way of the first version's demo: manifest, quote, preview, commit, outcome."""
    knew = release.paths
    told = is_answered(door.agent.get("manifest").json(), knew["GET /api/v1/pi/manifest"]["answers"])
    # Only a manifest that was asked for in a provider's dialect names one, and only one of a key that is shown a part
    # tells of that.
    assert set(told) <= {"dialect", "tiers"}
    reads = {
        "uniswap_get_quote": {"token_in": "USDC", "token_out": "WETH", "amount": "500000000"},
        "data_get_token_price": {"token": "WETH"},
        "data_get_pools_by_token_pair": {"token0": "USDC", "token1": "WETH"},
        "wallet_get_status": {},
        "wallet_get_gas_price": {},
    }
    for name, params in reads.items():
        route, answers = release.tools[name]["route"], release.tools[name]["answers"]
        assert set(params) <= set(release.tools[name]["takes"]), name
        answer = door.post("query_state", {"query": route[1], "venue": route[2], **params})
        assert answer["http"] == 200, answer
        assert is_answered(answer["data"], answers) == [], name
    permit = door.post("preview_action", SWAP)
    assert is_answered(permit, knew["POST /api/v1/pi/preview_action"]["answers"]) == []
    ended = door.post("commit_action", {"permit_id": permit["permit_id"]})
    assert is_answered(ended, knew["POST /api/v1/pi/commit_action"]["answers"]) == []
    assert is_answered(ended["result"]["data"], release.tools["uniswap_execute_swap"]["answers"]) == []


@pytest.mark.parametrize("release", RELEASES, ids=lambda each: each.version)
def test_the_other_doors_answer_a_client_of_each_version_by_the_same_calls(door: Door, release: Release) -> None:
    # A2A and MCP carry a call to the very views of the interface; what differs is the envelope.
    answer = call_tool("query_state", {"query": "token_price", "token": "WETH"}, token=door.agent.key.token)
    assert not answer.is_refusal
    assert is_answered(answer.body["data"], release.tools["data_get_token_price"]["answers"]) == []


@pytest.mark.parametrize("word", ["action_type", "kind", "type"])
def test_a_body_of_each_spelling_that_a_version_may_have_written_is_taken(door: Door, word: str) -> None:
    body = {**SWAP, "amount": "700000000"}
    spelled = {word: body.pop("action_type"), **body}
    assert door.post("preview_action", spelled)["http"] == 200
    nested = {word: "swap", "params": {"token_in": "USDC", "token_out": "WETH", "amount": "800000000"}}
    assert door.post("preview_action", nested)["http"] == 200


def test_each_version_that_was_given_out_is_kept_whole() -> None:
    """The version of this product, where its changelog tells of it as given out, and every one before."""
    given_out = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert {each.version for each in RELEASES} == set(given_out)
    assert {each.version: (len(each.tools), len(each.paths)) for each in RELEASES} == {
        "0.1.0": (26, 11),
        "0.2.0": (312, 12),
    }


def test_what_a_report_declares_field_by_field_is_among_what_is_answered() -> None:
    told = describe_answer(REGISTRY.get("bridge_execute"))
    assert {"bridge_id", "amount_sent", "least_arriving", "estimated_arrival", "tx_hash"} <= set(told)


def test_each_kind_of_break_is_named(paths: dict[str, Any]) -> None:
    name = "data_get_token_price"
    entry = describe_tools([REGISTRY.get(name)])[name]
    broken = {
        "a_tool_that_is_no_more": entry,
        name: {
            **entry,
            "route": ["query_state", "price", "data"],
            "takes": {**entry["takes"], "currency": []},
            "needs": [],
            "answers": {**entry["answers"], "ask": None, "pool": None},
        },
    }
    operation = "POST /api/v1/pi/query_state"
    old = {"takes": ["q"], "needs": [], "answers": {"score": {}}}
    told = find_broken(
        replace(FIRST, tools=broken, paths={operation: old, "POST /api/v1/pi/undo": old}),
        registry=REGISTRY,
        paths=paths,
    )
    assert {
        "a_tool_that_is_no_more is gone",
        f"{name} is reached by {entry['route']} and was by ['query_state', 'price', 'data']",
        f"{name} no longer takes currency",
        f"{name} needs token now",
        f"{name} no longer answers ask",
        f"{name} no longer answers pool",
        f"{operation} no longer takes q",
        f"{operation} no longer answers score",
        "POST /api/v1/pi/undo is gone",
    } <= set(told)


def test_a_version_is_served_until_ninety_days_after_the_next() -> None:
    day = date(2026, 1, 1)
    first, second = replace(FIRST, released=day), replace(FIRST, version="2", released=day + timedelta(days=30))
    for days, served in ((0, {FIRST.version, "2"}), (119, {FIRST.version, "2"}), (120, {"2"}), (2_000, {"2"})):
        listed = list_served((first, second), today=day + timedelta(days=days))
        assert {each.version for each in listed} == served, days
