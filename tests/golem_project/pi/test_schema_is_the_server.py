"""The documented request bodies against the server: what one refuses the other refuses, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator, FormatChecker

from archetypes_app.browse_and_load_tools import TIER_QUERIES
from golem_project.pi.openapi_tools import name_body
from golem_project.pi.schema_lines import name_home
from golem_project.pi.serializers import QueryGrimoireInput
from memory_app.filters import parse_filters
from permits_app.actions.query import OWN_QUERIES
from tests.batches import in_batches
from tests.golem_project.pi.conftest import Agent
from tools_app.core.errors import InvalidParams
from tools_app.runner import check_params
from tools_app.select_tool_for_venue import AmbiguousParams
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ToolDef

DOCUMENT = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
FORMATS = FormatChecker()
PERMIT = "7b0c5a1e-2f10-4c0e-9d64-1f7d2a3b4c5d"
GOOD: dict[str, dict[str, Any]] = {
    "commit_action": {"permit_id": PERMIT},
    "cancel_action": {"permit_id": PERMIT, "reason": "changed my mind"},
    "search_context": {"query": "how to exit"},
    "query_grimoire": {"query": "a swap"},
    "update_directive": {"section": "Exits", "change": "Leave early.", "reason": "seen twice"},
    "emergency_halt": {"reason": "a drill", "drill": True},
    # A word of no built-in tool: what those take is held against the document below, tool by tool.
    "query_state": {"query": "an_owners_own_tool"},
    "preview_action": {"action_type": "an_owners_own_tool"},
}
OPTIONAL: dict[str, dict[str, Any]] = {
    "search_context": {"limit": 5},
    "query_grimoire": {
        "limit": 5,
        "store": "episodes",
        "action_type": "swap",
        "venue": "uniswap",
        "tokens": "USDC",
        "chain_id": 1,
        "importance": "BASE",
        "since": "2026-11-21T06:00:00Z",
        "until": "2026-11-22T06:00:00.5+01:00",
        "filters": {"include_archived": True},
    },
}
WORDS = {
    PiTool.PREVIEW_ACTION: "action_type",
    PiTool.QUERY_STATE: "query",
    PiTool.SEARCH_CONTEXT: "read",
    PiTool.QUERY_GRIMOIRE: "read",
}
REFUSED_AS_BODIES = ("INVALID_PARAMS", "AMBIGUOUS_PARAMS")
OF_ANY_TYPE: tuple[Any, ...] = (
    "text",
    "",
    "  ",
    "7",
    7,
    7.0,
    -1,
    0,
    2**60,
    True,
    None,
    [],
    ["a"],
    {},
    {"a": 1},
    "2026-11-21",
)


@FORMATS.checks("date-time", raises=ValueError)
def is_time(text: object) -> bool:
    return not isinstance(text, str) or bool(datetime.fromisoformat(text))


def request_schema(tool: str) -> dict[str, Any]:
    """The schema of a tool's request body, with the definitions it refers to."""
    operation = DOCUMENT["paths"][f"/api/v1/pi/{tool}"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return {**schema, "components": DOCUMENT["components"]}


OPEN = {"preview_action": "PreviewActionOwnWord", "query_state": "QueryStateOwnWord"}


def resolve(tool: str) -> dict[str, Any]:
    """The form of a body that is of no tool: through its reference, and the first of several forms."""
    schema: dict[str, Any] = {"$ref": f"#/{OPEN[tool]}"} if tool in OPEN else request_schema(tool)
    while "$ref" in schema or "oneOf" in schema or "anyOf" in schema:
        schema = (schema.get("oneOf") or schema.get("anyOf") or [schema])[0]
        if "$ref" in schema:
            schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def list_bodies(tool: str) -> Iterator[dict[str, Any]]:
    """A good body, and for each property values at, within and beyond every bound, of every type, missing and extra."""
    good = {**GOOD[tool], **OPTIONAL.get(tool, {})}
    yield GOOD[tool]
    yield good
    for extra in ("colour", "permitId", "__proto__", ""):
        yield {**good, extra: "x"}
        yield {**good, extra: None}
    for name, schema in resolve(tool)["properties"].items():
        # The tool's own schema judges the first, a worker the last.
        if name in ("params", "venue", "chain_id", "why") and tool in ("query_state", "preview_action"):
            continue
        yield {key: value for key, value in good.items() if key != name}
        values = list(OF_ANY_TYPE)
        if longest := schema.get("maxLength"):
            values += ["x" * longest, "x" * (longest + 1), " " * 3 + "x" * (longest - 3), " " + "x" * longest]
        for bound in ("minimum", "maximum"):
            if bound in schema:
                values += [schema[bound] - 1, schema[bound], schema[bound] + 1]
        if "pattern" in schema:
            values += [PERMIT.upper(), PERMIT.replace("-", ""), f"{{{PERMIT}}}", f"urn:uuid:{PERMIT}", f" {PERMIT}"]
        if name == "filters":
            values = [{}, {"tool_name": "x"}, {"colour": "red"}, [], "x", 5, None]
        yield from ({**good, name: value} for value in values)


@pytest.mark.parametrize(
    "tool", ["commit_action", "cancel_action", "search_context", "query_grimoire", "update_directive", "emergency_halt"]
)
def test_the_server_refuses_exactly_what_the_schema_refuses(agent: Agent, tool: str) -> None:
    validator = Draft202012Validator(request_schema(tool), format_checker=FORMATS)
    differences = []
    for body in list_bodies(tool):
        if is_refused(agent, tool, body) is validator.is_valid(body):
            differences.append(str(body)[:200])
    assert differences == []


def is_refused(agent: Agent, tool: str, body: dict[str, Any]) -> bool:
    """Whether the server says that the body itself is bad."""
    if tool != "query_grimoire":
        return agent.post(tool, body).json().get("code") in REFUSED_AS_BODIES
    # What its view does before it asks the worker that holds the embedding model.
    asked = QueryGrimoireInput(data={name: value for name, value in body.items() if value is not None})
    try:
        asked.check()
        parse_filters(asked.read_filters())
    except (InvalidParams, AmbiguousParams):
        return True
    return False


@pytest.mark.parametrize("tool", ["query_state", "preview_action"])
def test_an_open_body_is_refused_where_its_own_words_are(agent: Agent, tool: str) -> None:
    validator = Draft202012Validator(request_schema(tool), format_checker=FORMATS)
    for body in list_bodies(tool):
        if not validator.is_valid(body):
            assert agent.post(tool, body).json()["code"] in REFUSED_AS_BODIES, body


NOT_WRITTEN_DOWN = ("command=  ",)
"""What a tool refuses and its schema has no word for: a command of blanks alone."""


def look_up(part: dict[str, Any]) -> dict[str, Any]:
    """A parameter's own schema, through its reference."""
    return DOCUMENT["components"]["schemas"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part


def list_params(properties: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Nothing, what no tool takes, and each parameter with values of every type and at its bounds."""
    yield {}
    yield {"colour": "red"}
    for name, part in ((name, look_up(each)) for name, each in properties.items()):
        forms = [part, *map(look_up, part.get("anyOf", ()))]
        forms += [look_up(form) for each in forms for form in each.get("anyOf", ())]
        values = [*OF_ANY_TYPE, "1.5", "0x" + "ab" * 20, 1.5]
        for form in forms:
            values += form.get("enum", ())
            values += [form[bound] + step for bound in ("minimum", "maximum") if bound in form for step in (-1, 0, 1)]
            values += ["x" * (form["maxLength"] + step) for step in (0, 1) if "maxLength" in form]
        if any("[0-9]{1,78}" in form.get("pattern", "") for form in forms):
            # The document asks for text, which no reader rounds; a whole number is taken all the same.
            values = [value for value in values if type(value) is not int or value < 0]
        yield from ({name: value} for value in values if f"{name}={value}" not in NOT_WRITTEN_DOWN)


TOOLS = [tool for tool in REGISTRY if tool.pi_tool in WORDS]
BESIDE = ("venue", "why", "cursor")
"""What stands beside a tool's parameters in a body."""


@in_batches("tool", TOOLS, name=lambda tool: tool.name, batch=name_home)
def test_the_document_and_the_server_find_the_same_faults_with_a_tools_parameters(tool: ToolDef) -> None:
    schema = DOCUMENT["components"]["schemas"][name_body(tool.name)]
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]}, format_checker=FORMATS)
    differences = []
    own = {WORDS[tool.pi_tool], *BESIDE} - set(tool.params_model.model_fields)
    for params in list_params({name: part for name, part in schema["properties"].items() if name not in own}):
        documented = find_bad_fields(validator, {WORDS[tool.pi_tool]: tool.key, **params})
        try:
            check_params(tool=tool, params=params)
            served: set[str] = set()
        except InvalidParams as error:
            served = {field.partition(".")[0].partition("[")[0] for field in error.data["fields"]}
        if documented != served:
            differences.append((params, sorted(documented), sorted(served)))
    assert differences == []


@pytest.mark.parametrize("query", [*(own.key for own in OWN_QUERIES), *(tier.key for tier in TIER_QUERIES)])
def test_a_query_of_the_golem_itself_is_refused_exactly_where_the_document_refuses_it(agent: Agent, query: str) -> None:
    validator = Draft202012Validator(request_schema("query_state"))
    properties = DOCUMENT["components"]["schemas"][name_body(f"own_{query}")]["properties"]
    asked = {name: part for name, part in properties.items() if name not in ("query", "venue")}
    differences = []
    for params in ({"venue": "golem"}, *list_params(asked)):
        if any(isinstance(value, float) for value in params.values()):
            # The server reads a fraction as the text it is.
            continue
        body = {"query": query, **params}
        if is_refused(agent, "query_state", body) is validator.is_valid(body):
            differences.append(body)
    assert differences == []


def test_a_read_may_say_where_it_goes_on_and_a_venue_where_it_chooses_one() -> None:
    state, grimoire = (Draft202012Validator(request_schema(name)) for name in ("query_state", "query_grimoire"))
    assert state.is_valid({"query": "quote", **NESTED_SWAP, "cursor": "20"})
    assert not state.is_valid({"query": "quote", **NESTED_SWAP, "cursor": 20})
    assert grimoire.is_valid({"read": "failure_patterns", "cursor": "20"})
    assert not grimoire.is_valid({"read": "failure_patterns", "venue": "memory"})


def find_bad_fields(validator: Draft202012Validator, body: dict[str, Any]) -> set[str]:
    """Names of the fields that are wrong, missing or too many."""
    bad: set[str] = set()
    for error in validator.iter_errors(body):
        if error.validator == "required":
            bad |= set(error.validator_value) - set(body)
        elif error.validator == "additionalProperties" and not error.absolute_path:
            bad |= set(body) - set(error.schema["properties"])
        else:
            bad.add(str(error.absolute_path[0]))
    return bad


def test_a_flat_body_is_of_the_tool_its_word_names_and_no_other_words_body_is_closed() -> None:
    validator = Draft202012Validator(request_schema("preview_action"), format_checker=FORMATS)
    swap = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": "5"}
    assert validator.is_valid(swap)
    assert validator.is_valid({**swap, "venue": "uniswap", "why": "a test", "slippage_bps": None})
    assert not validator.is_valid({**swap, "colour": "red"})
    assert not validator.is_valid({"action_type": "swap"})
    assert not validator.is_valid({**swap, "amount": 5})
    assert validator.is_valid({"action_type": "swap", "wish_id": PERMIT}), "the wish says the rest"
    assert validator.is_valid({"action_type": "an_owners_own_tool", "colour": "red"})


NESTED_SWAP: dict[str, Any] = {"token_in": "USDC", "token_out": "WETH", "amount": "5000000"}
WHOLE_BODIES: tuple[dict[str, Any], ...] = (
    {"action_type": "swap", **NESTED_SWAP},
    {"action_type": "swap", "why": "a test", **NESTED_SWAP, "slippage_bps": None},
    {"action_type": "swap", "venue": None, **NESTED_SWAP},
)
BROKEN_BODIES: tuple[dict[str, Any], ...] = (
    {"action_type": "swap", "params": {"token_in": "USDC", "token_out": "WETH"}},
    {"action_type": "swap", "params": {**NESTED_SWAP, "amount": 0.5}},
    {"action_type": "swap", "colour": "red", "params": NESTED_SWAP},
    {"action_type": "swap", "params": "text"},
    {"action_type": "swap", "params": {**NESTED_SWAP, "type": "swap"}},
    {"action_type": "swap", "why": "a test", "params": {**NESTED_SWAP, "why": "another"}},
    {"kind": "swap", "params": {**NESTED_SWAP, "colour": "red"}},
    {"kind": "swap", "colour": "red", **NESTED_SWAP},
    {"kind": "swap", "type": "swap", **NESTED_SWAP},
    {"kind": "swap"},
)
LENIENTLY_TAKEN: tuple[dict[str, Any], ...] = (
    {"action_type": "swap", "params": NESTED_SWAP},
    {"type": "swap", "venue": "uniswap", "params": NESTED_SWAP},
    {"kind": "swap", **NESTED_SWAP},
    {"kind": "swap", "params": None, **NESTED_SWAP},
    {"action_type": "swap", "amount": "5000000", "params": {"token_in": "USDC", "token_out": "WETH"}},
    {"params": {"action_type": "swap", **NESTED_SWAP}},
    {"action_type": "swap", "colour": None, **NESTED_SWAP},
)
"""What the server understands and the document does not offer."""


def test_a_nested_body_and_one_with_another_spelling_is_of_the_tool_it_names(live: Agent, tasks_here: None) -> None:
    validator = Draft202012Validator(request_schema("preview_action"))
    for bodies, is_documented, is_served in (
        (WHOLE_BODIES, True, True),
        (BROKEN_BODIES, False, False),
        (LENIENTLY_TAKEN, False, True),
    ):
        for body in bodies:
            answer = live.post("preview_action", body)
            is_understood = answer.status_code == 200 or answer.json()["code"] not in REFUSED_AS_BODIES
            assert (validator.is_valid(body), is_understood) == (is_documented, is_served), (body, answer.content)


def test_a_read_takes_up_no_wish(agent: Agent) -> None:
    body = {"query": "quote", **NESTED_SWAP, "wish_id": PERMIT}
    assert not Draft202012Validator(request_schema("query_state")).is_valid(body)
    assert agent.post("query_state", body).json()["code"] == "INVALID_PARAMS"


def test_a_body_is_of_a_tool_at_the_venue_it_names() -> None:
    validator = Draft202012Validator(request_schema("preview_action"))
    loan = {"market_id": "0x" + "ab" * 32, "amount": "5"}
    assert validator.is_valid({"action_type": "borrow", "venue": "morpho", **loan})
    assert not validator.is_valid({"action_type": "borrow", "venue": "aave", **loan})
    assert validator.is_valid({"action_type": "borrow", "venue": "an_owners_own", "colour": "red"})


def test_the_document_is_valid_and_so_are_its_schemas_and_their_defaults() -> None:
    validate_schema(DOCUMENT)
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
        for part in (schema, *schema.get("properties", {}).values()):
            for form in (part, *part.get("anyOf", ())):
                validator = Draft202012Validator({**form, "components": DOCUMENT["components"]})
                assert "default" not in form or validator.is_valid(form["default"]), form
    for path in GOOD:
        Draft202012Validator.check_schema(request_schema(path))


def test_every_documented_body_is_closed_or_says_what_else_it_takes() -> None:
    posts = [path for path, methods in DOCUMENT["paths"].items() if "requestBody" in methods.get("post", {})]
    assert sorted(path.rpartition("/")[2] for path in posts) == sorted(GOOD)
    for tool in GOOD:
        extra = resolve(tool).get("additionalProperties", True)
        assert extra is False or extra == {"type": "null"} or "description" in extra, tool


@pytest.mark.parametrize("key", ["x", "x" * 200, "x" * 201, "", "a b", "caf\u00e9", "!~"])
def test_an_idempotency_key_is_refused_where_the_schema_refuses_it(agent: Agent, key: str) -> None:
    schema = DOCUMENT["components"]["parameters"]["Idempotency-Key"]["schema"]
    code = agent.post("commit_action", GOOD["commit_action"], **{"Idempotency-Key": key}).json()["code"]
    assert (code == "IDEMPOTENCY_KEY_INVALID") is not Draft202012Validator(schema).is_valid(key)


def list_queries(path: str) -> Iterator[tuple[str, str]]:
    """Each parameter of a query with texts at, within and beyond what it says."""
    words = [
        "x",
        "0",
        "-1",
        "1.5",
        "1e3",
        "true",
        "\u0663",
        PERMIT,
        PERMIT.upper(),
        f"{PERMIT},{PERMIT}",
        f"{PERMIT};1",
    ]
    words += [
        "0123abcd-0",
        "0123ABCD-0",
        "0123abcd-",
        "0123abcd--1",
        "2026-11-21T06:00:00Z",
        "2026-11-21T06",
        "tomorrow",
    ]
    words += ["tool:*", "tool:start", "tool:start,permit:*", "tool", "*", "Tool:*", "tool:start,"]
    for each in DOCUMENT["paths"][path]["get"]["parameters"]:
        if each["in"] == "query":
            schema = each["schema"]
            bounds = [
                schema[bound] + step for bound in ("minimum", "maximum") if bound in schema for step in (-1, 0, 1)
            ]
            yield from ((each["name"], word) for word in [*words, *map(str, bounds), *schema.get("enum", ())])


@pytest.mark.parametrize("path", sorted(path for path in DOCUMENT["paths"] if "get" in DOCUMENT["paths"][path]))
def test_a_query_that_the_schema_refuses_is_refused(agent: Agent, path: str) -> None:
    """And what it takes is taken, but for a place or a golem that is not there."""
    schemas = {each["name"]: each["schema"] for each in DOCUMENT["paths"][path]["get"].get("parameters", ())}
    differences = []
    for name, word in [*list_queries(path), ("colour", "red"), ("Limit", "1")]:
        schema = schemas.get(name, False)
        is_number = schema and schema.get("type") == "integer" and word.isascii() and word.lstrip("-").isdecimal()
        takes = Draft202012Validator(schema, format_checker=FORMATS).is_valid(int(word) if is_number else word)
        answer = agent.client.get(
            path.replace("{permit_id}", PERMIT), {name: word}, headers={"Authorization": f"Bearer {agent.key.token}"}
        )
        # A cursor is a permit's id, and nobody has this permit.
        is_refused_for_itself = answer.status_code == 422 and answer.json().get("fields") != {"cursor": "unknown"}
        if (takes and is_refused_for_itself) or (not takes and answer.status_code == 200):
            differences.append((name, word, answer.status_code))
    assert differences == []
