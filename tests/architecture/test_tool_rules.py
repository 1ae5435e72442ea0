"""The rules every registered tool keeps, whoever wrote it."""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from golem_project.pi.schema_lines import name_home
from tests.architecture.sources import ROOT, list_tracked, parse
from tests.batches import in_batches
from tests.catalogue.shelf import load_reads
from tools_app.standards.receipts import Mined
from tools_app.toolkit.enums import CapabilityTier
from tools_app.toolkit.family import FAMILIES
from tools_app.toolkit.progress_steps import list_said_steps
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.report import Report, fields_of
from tools_app.toolkit.tooldef import LocalWriteTool, ToolDef, WriteTool

TOOLS = sorted(REGISTRY, key=lambda tool: tool.name)
_IDS = [tool.name for tool in TOOLS]
EACH_TOOL = in_batches("tool", TOOLS, name=lambda tool: tool.name, batch=name_home)
_SNIPPET_TOKENS = (15, 60)
_CHARACTERS_PER_TOKEN = 4
# Prefixes whose tools live in the app whose data they touch.
_IN_APPS = {
    "memory": "memory_app/tools/",
    "wallet": "permits_app/tools/wallet",
    "session": "permits_app/tools/session_keys.py",
    "golem": "permits_app/tools/golem_state.py",
    # The tools of a standard are called after what people know it as.
    "vault": "tools_app/protocols/erc4626/",
    "lrt": "tools_app/protocols/liquid_restaking/",
}
# Prefixes of which some tools need what an app knows: what raw calls may name is judged by the permits' own rules.
_MORE_PLACES = {
    "safety": ("permits_app/tools/safety",),
    "uniswap": ("tools_app/protocols/across/",),
    "golem": (
        "permits_app/tools/delegation.py",
        "permits_app/tools/observer.py",
        "permits_app/tools/standing_plans.py",
    ),
}
# Prefixes whose protocol has a longer name, the name of a standard, or of what it is built over.
_FOLDERS = {
    "morpho": "morpho_blue",
    "vault": "erc4626",
    "identity": "erc8004",
    "convex": "curve",
    "lrt": "liquid_restaking",
    "bridge": "across",
}
# Whole words of a parameter that is an amount of money or of a token's base units.
_AMOUNT = re.compile(r"^(amount\w*|value|max_amount\w*|min_amount\w*|liquidity)$")
# Named like an amount, and none: each with what it is.
_NOT_AMOUNTS: dict[str, str] = {}
_LABELS = ("recorded/stories.py", "recorded/held_out_stories.py")
# Words of what stands behind a prefix: first what is done, then to what.
_ACTIONS = frozenset(
    "add advise approve assess audit backtest bash batch borrow build burn buy calculate cancel check claim"
    " classify clear close cluster collect compare complete compound compute configure consolidate create decrease"
    " delegate deploy deposit detect disable discover edit enable end enter estimate evaluate execute export find fund"
    " generate get grep harvest import increase learn leave link liquidate manage migrate mine open optimize pay"
    " place propose provision publish queue read rebalance recommend record redeem redelegate register"
    " remove repay request retrieve revoke search sell set setup simulate stake stop store submit supply"
    " swap track transfer trigger tune undelegate unstake unsubscribe unwind unwrap update validate"
    " verify withdraw wrap write".split()
)
# A second prefix, where one protocol or subsystem has parts.
_PARTS = {"uniswap_lp", "uniswap_api", "uniswap_sdk", "intel_defilama"}
# Names that were specified whole and say what is done by another word, each with that.
_SAID_OTHERWISE = {
    "lending_auto_deleverage": "it deleverages",
    "lending_flash_loan": "it borrows within one transaction",
    "lido_exit_decision": "it compares ways to exit",
    "testnet_time_travel": "it moves the clock",
    **dict.fromkeys(
        ("stream_new_pools", "stream_pool_events", "stream_pool_state", "stream_position_alerts", "stream_price_feed"),
        "it streams",
    ),
    **dict.fromkeys(("stream_trades", "stream_tokenjar"), "it streams"),
}
_IDS_OF_THINGS = {"pool", "pool_address", "order_hash", "vault", "governor", "market"}
# Tools that need an id which no tool answers, with whose it is.
_OWN_IDS = {
    "memory_record_execution": "the caller's own",
    "intel_track_governance": "a protocol's people publish their governor",
}
# Tools without a test that names them, or a read case that works a figure out, each with the reason; empty is the aim.
_UNTESTED: dict[str, str] = {}


def _walk_schema(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _walk_schema(value)
    elif isinstance(node, list):
        for value in node:
            yield from _walk_schema(value)


def _types_of(schema: dict[str, Any]) -> set[str]:
    options = [option.get("items", option) for option in schema.get("anyOf", [schema])]
    return {option.get("type", "") for option in options} - {"null"}


def _describes(schema: dict[str, Any]) -> bool:
    """Whether a parameter, one of its alternatives, the items of its list, or the object it refers to is described."""
    inner = [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]
    return bool(schema.get("description") or "$ref" in schema) or any(_describes(option) for option in inner)


@cache
def _words_of_tests() -> frozenset[str]:
    own = Path(__file__).resolve()
    # What stands beside a recorded situation is a label, which calls nothing.
    names = (
        path
        for path in list_tracked()
        if path.startswith("tests/") and path.endswith(".py") and not path.endswith(_LABELS)
    )
    texts = ((ROOT / path).read_text() for path in names if (ROOT / path).resolve() != own)
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


@cache
def _worked_out() -> frozenset[str]:
    """Reads whose case has a figure that is worked out another way: `tests/catalogue/test_reads.py` asks them."""
    cases = [case for filed in load_reads().values() for case in filed.cases]
    return frozenset(case.tool for case in cases if any(callable(wanted) for wanted in case.tells.values()))


def test_there_are_tools_to_check() -> None:
    assert len(TOOLS) >= 20


@EACH_TOOL
def test_a_tool_lives_in_the_place_of_its_prefix(tool: ToolDef) -> None:
    assert tool.name.startswith(f"{tool.prefix}_")
    path = Path(tool.source.rpartition(":")[0]).resolve().relative_to(ROOT).as_posix()
    places = (_IN_APPS.get(tool.prefix, f"tools_app/subsystems/{tool.prefix}/"), *_MORE_PLACES.get(tool.prefix, ()))
    # A protocol's folder may say its version behind the prefix: `lender_v3/` holds `lender_supply`.
    folder = path.removeprefix("tools_app/protocols/").partition("/")[0] if "tools_app/protocols/" in path else ""
    own = folder == _FOLDERS.get(tool.prefix, tool.prefix) or folder.startswith(f"{tool.prefix}_")
    assert path.startswith(places) or own


@EACH_TOOL
def test_a_name_is_a_prefix_that_says_whose_it_is_an_action_and_a_subject(tool: ToolDef) -> None:
    assert tool.prefix not in _ACTIONS
    rest = tool.name.removeprefix(f"{tool.prefix}_")
    first, _, others = rest.partition("_")
    action = others.partition("_")[0] if f"{tool.prefix}_{first}" in _PARTS else first
    assert action in _ACTIONS or tool.name in _SAID_OTHERWISE, tool.name


def test_a_name_that_a_tool_had_before_is_no_other_tools_word() -> None:
    """A caller says a key, a name or one of before, and each leads to one tool."""
    keys = {(tool.pi_tool, tool.key) for tool in TOOLS}
    taken = [
        f"{tool.name}: {word}"
        for tool in TOOLS
        for word in (tool.name, *tool.aliases)
        if word != tool.key and (tool.pi_tool, word) in keys
    ]
    assert taken == []


@EACH_TOOL
def test_a_description_says_what_when_and_what_not(tool: ToolDef) -> None:
    first, _, rest = tool.description.partition("\n")
    assert first.endswith(".") and len(first) <= 120
    body = " ".join(rest.split())
    assert re.search(r"(^|\. )Use ", body)
    assert re.search(r"\bDoes not ", body)


@EACH_TOOL
def test_a_tool_that_needs_an_id_names_the_tool_that_answers_it(tool: ToolDef) -> None:
    """What has to be asked first: no model can guess which pool, position, market or order is meant."""
    needed = {
        name
        for name, field in tool.params_model.model_fields.items()
        if field.is_required()
        and (name in _IDS_OF_THINGS or name.endswith(("_id", "_ids")))
        and name not in ("chain_id", "chain_ids")
    }
    if needed and tool.name not in _OWN_IDS:
        told = " ".join([tool.description, *tool.guidelines, str([tool.schema["properties"][each] for each in needed])])
        words = set(re.findall(r"\w+", told)) - {tool.name, tool.key}
        assert words & {word for each in TOOLS for word in (each.name, each.key) if "_" in word}, tool.name


@EACH_TOOL
def test_a_snippet_is_short_and_not_empty(tool: ToolDef) -> None:
    least, most = _SNIPPET_TOKENS
    assert least <= len(tool.snippet) / _CHARACTERS_PER_TOKEN <= most


@EACH_TOOL
def test_a_schema_is_valid_closed_and_without_floats(tool: ToolDef) -> None:
    Draft202012Validator.check_schema(tool.schema)
    for node in _walk_schema(tool.schema):
        assert node.get("type") != "number"
        if node.get("type") == "object":
            assert node.get("additionalProperties") is False
    assert not [node for node in _walk_schema(tool.schema) if isinstance(node.get("default"), float)]


@EACH_TOOL
def test_every_parameter_is_described(tool: ToolDef) -> None:
    assert [name for name, schema in tool.schema["properties"].items() if not _describes(schema)] == []


@EACH_TOOL
def test_amounts_are_decimal_strings(tool: ToolDef) -> None:
    wrong = {
        name: _types_of(schema)
        for name, schema in tool.schema["properties"].items()
        if _AMOUNT.match(name) and f"{tool.name}.{name}" not in _NOT_AMOUNTS and _types_of(schema) != {"string"}
    }
    assert wrong == {}


def test_no_tool_names_what_is_found_without_being_named() -> None:
    """Steps that its function says, the word that its name is, and what holds where nothing is said."""
    said = {tool.name: (list_said_steps(tool.handler), tool) for tool in TOOLS}
    named = {tool.name for family in FAMILIES if family.reads_named for tool in family.tools}
    assert [name for name, (steps, tool) in said.items() if tool.named_steps == steps != ()] == []
    twice = []
    for path in sorted({tool.source.rpartition(":")[0] for tool in TOOLS}):
        for node in parse(str(Path(path).relative_to(ROOT))).body:
            if not isinstance(node, ast.FunctionDef) or node.name not in said:
                continue
            tool = said[node.name][1]
            word = tool.name.removeprefix(f"{tool.prefix}_").removeprefix("get_")
            asked = f"{tool.prefix}_{word}" if tool.name in named else word
            needless = {"query": repr(asked), "action_type": repr(word), "budget": "TickBudget.MEDIUM"}
            needless["action_class"] = "None"
            twice += [
                f"{node.name}.{keyword.arg}"
                for call in node.decorator_list
                if isinstance(call, ast.Call)
                for keyword in call.keywords
                if keyword.arg in needless and ast.unparse(keyword.value) == needless[keyword.arg]
            ]
    assert twice == []


def test_the_steps_of_a_tool_are_those_its_function_says_in_the_order_of_its_lines_each_once() -> None:
    def says(ctx: Any, many: bool) -> None:
        ctx.begin("first")
        if many:
            try:
                ctx.step("a longer one")
            except ValueError:
                ctx.step("third")
                raise
        ctx.step("last")
        ctx.step("first")
        ctx.told("not a step")

    assert list_said_steps(says) == ("first", "a longer one", "third", "last")


_WORDS = "by a name"


def _says_more(ctx: Any) -> None:
    ctx.step(_WORDS)


def _is_handed_no_context(given: Any) -> None:
    given.step("never said")


class _Desk:
    def open(self, ctx: Any) -> None:
        self._read(ctx)

    def _read(self, ctx: Any) -> None:
        ctx.step("of the desk")
        self.open(ctx)

    @property
    def trap(self) -> None:
        raise AssertionError("nothing is carried out to find a step")


_DESK = _Desk()


def test_steps_that_another_function_says_are_found_where_it_is_called() -> None:
    def says(ctx: Any) -> None:
        ctx.step("first")
        _DESK.open(ctx)
        _is_handed_no_context(ctx)
        _DESK.trap  # noqa: B018
        _says_more(ctx)
        ctx.step("last")

    assert list_said_steps(says) == ("first", "of the desk", "by a name", "last")


@EACH_TOOL
def test_a_write_reports_its_outcome_and_says_what_it_does_first(tool: ToolDef) -> None:
    assert isinstance(tool.guidelines, tuple)
    assert isinstance(tool.progress_steps, tuple)
    if isinstance(tool, WriteTool):
        # Without one the transactions and what moved are told.
        assert tool.report is None or callable(tool.report)
        assert tool.capability in {CapabilityTier.WRITE, CapabilityTier.PRIVILEGED}
    elif isinstance(tool, LocalWriteTool):
        assert callable(tool.preview)
        assert tool.capability in {CapabilityTier.WRITE, CapabilityTier.PRIVILEGED}
    else:
        assert tool.capability is CapabilityTier.READ


@EACH_TOOL
def test_a_test_names_the_tool(tool: ToolDef) -> None:
    assert tool.name in _UNTESTED or tool.name in _words_of_tests() | _worked_out()


def _fields_of_report(tool: WriteTool) -> set[str]:
    """Of a report that is declared, or of the dataclass that a function answers; none of a dict."""
    declared = getattr(tool.report, "__self__", None)
    if isinstance(declared, type) and issubclass(declared, Report):
        return set(fields_of(declared))
    answered = typing.get_type_hints(tool.report).get("return")
    return {each.name for each in fields(answered)} if is_dataclass(answered) else set()


def test_no_report_repeats_where_the_plan_was_mined() -> None:
    said = {each.name for each in fields(Mined)}
    told = {
        tool.name: _fields_of_report(tool) for tool in TOOLS if isinstance(tool, WriteTool) and tool.report is not None
    }
    repeated = {name: found & said for name, found in told.items() if found}
    assert len(repeated) > 30
    assert {name: found for name, found in repeated.items() if found} == {}


def test_the_written_exemptions_name_tools_that_need_them() -> None:
    needless = {name for name in _UNTESTED if name not in _IDS or name in _words_of_tests() | _worked_out()}
    assert needless == set()
    assert {name.partition(".")[0] for name in _NOT_AMOUNTS} <= set(_IDS)
