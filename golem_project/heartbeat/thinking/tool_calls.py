"""Runs the calls a model makes: each is the same domain call that REST makes, for this golem and with these tools only.

A tool that is not among those shown does not exist here. A commit in a golem that is not live is refused. Every permit
touched is noted, so that the record of the tick can say what came of the thinking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from jsonschema import Draft202012Validator

from archetypes_app.browse_and_load_tools import TIER_KEYS, answer_tier_query
from archetypes_app.models import Golem
from archetypes_app.tool_loadout import MOST_TOOLS, Loading, Loadout, find_served
from golem_project.heartbeat.thinking.errors import ChatOnlyRehearses, GolemInDryRun
from golem_project.heartbeat.thinking.loop_values import ManualTool
from golem_project.heartbeat.thinking.planner import PermitStep, TouchedPermit
from memory_app.actions.update_directive import update_directive
from memory_app.ask_memory_worker import request_query_grimoire
from permits_app.actions.gather_context import gather_context
from permits_app.actions.preview import preview_action
from permits_app.actions.preview_module_wish import preview_module_wish
from permits_app.actions.query import OWN_QUERIES, query_state
from permits_app.actions.record_denial import record_preview_denial
from permits_app.actions.request_cancel import request_cancel
from permits_app.doors.request_commit import request_commit
from permits_app.doors.request_halt import request_halt
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits.equal_actions import hash_meant
from permits_app.permits.selectors import view_permit
from permits_app.previews.request_words import read_params
from permits_app.safety.hooks.result_filter import filter_result
from tools_app import runner
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.select_tool_for_venue import flatten_params, normalize_key
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY, UnknownTool, refuse_for_good
from tools_app.toolkit.tooldef import ToolDef

_DEFAULT_LIMIT = 10
_SEARCH_WORDS = frozenset({"query", "limit", "store"})
_FREE_FORM = frozenset({PiTool.PREVIEW_ACTION, PiTool.QUERY_STATE})
"""Their parameters are those of what they name, and that tool's own schema checks them."""
_LASTING = frozenset({PiTool.COMMIT_ACTION, PiTool.CANCEL_ACTION, PiTool.UPDATE_DIRECTIVE, PiTool.EMERGENCY_HALT})
"""What no conversation may do."""
_READING = frozenset({PiTool.QUERY_STATE, PiTool.SEARCH_CONTEXT, PiTool.QUERY_GRIMOIRE})
_OWN_KEYS = frozenset(query.key for query in OWN_QUERIES)


@dataclass(frozen=True, slots=True)
class _ToldPermit:
    """What is read of a permit's view."""

    permit_id: str
    action_type: str
    venue: str
    status: str
    created_at: str


@dataclass(frozen=True, slots=True)
class _AskedCommit:
    permit_id: str


@dataclass(frozen=True, slots=True)
class _AskedCancel:
    permit_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class _AskedSearch:
    query: str
    store: str = "episodes"
    limit: int = _DEFAULT_LIMIT


class ToolDesk:
    """One golem's tools during one deliberation."""

    def __init__(
        self,
        *,
        golem: Golem,
        toolset: Toolset,
        loadout: Loadout,
        write_tools: Callable[[Toolset], Sequence[ManualTool]],
        cost_little: Callable[..., bool],
        actor: str,
        is_live: bool,
        only_rehearses: bool = False,
        api_key_id: UUID | None = None,
        read_now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._golem = golem
        self._toolset = toolset
        self._write_tools = write_tools
        self._only_rehearses = only_rehearses
        self._cost_little = cost_little
        # The least needed stand first, as what loading drops first.
        while loadout.loaded and not self._fits(loadout):
            loadout = replace(loadout, loaded=loadout.loaded[1:])
        self._show(loadout)
        self._actor = actor
        self._is_live = is_live
        self._api_key_id = api_key_id
        self._read_now = read_now
        self._touched: dict[UUID, TouchedPermit] = {}
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether the model halted its golem."""
        return self._is_over

    @property
    def tools(self) -> Sequence[ManualTool]:
        """The Pi-facing tools over what is loaded now."""
        return self._offered

    @property
    def shown(self) -> Toolset:
        """What is loaded now."""
        return self._shown

    @property
    def touched(self) -> tuple[TouchedPermit, ...]:
        """Every permit made or used here, as far as it was taken, in order of the preview."""
        return tuple(self._touched.values())

    def _show(self, loadout: Loadout) -> None:
        self._loadout = loadout
        self._shown = loadout.cut(self._toolset)
        written = self._write_tools(self._shown)
        self._tools = {str(tool.name): tool for tool in written}
        self._offered = tuple(tool for tool in written if not (self._only_rehearses and str(tool.name) in _LASTING))

    def _load(self, names: Sequence[str]) -> Loading:
        loading = self._loadout.load(names, fits=self._fits)
        if loading.loadout != self._loadout:
            self._show(loading.loadout)
        return loading

    def _fits(self, loadout: Loadout) -> bool:
        if loadout.most is None or loadout.most > MOST_TOOLS:
            return True
        shown = loadout.cut(self._toolset)
        return self._cost_little(self._write_tools(shown), are_ours=all(tool.name in REGISTRY for tool in shown))

    def _resolve(self, *, pi_tool: PiTool, key: str, venue: str | None) -> ToolDef:
        """The tool that serves this. One of the golem's that was not loaded is loaded with its use, and shown from the
        next turn on. Raises what resolving raises.
        """
        tool = find_served(
            toolset=self._toolset, shown=self._shown, pi_tool=pi_tool, key=key, venue=venue, known=REGISTRY
        )
        if not self._loadout.shows(tool.name):
            self._load([tool.name])
        self._loadout = self._loadout.use(tool.name)
        return tool

    def may_run_beside(self, *, name: str, arguments: Mapping[str, object]) -> bool:
        """Whether it is a read; browsing and loading change what is shown, and keep their turn."""
        asked = arguments.get("query")
        is_tier = isinstance(asked, str) and normalize_key(asked) in TIER_KEYS
        return normalize_key(name) in _READING and not is_tier

    def run(
        self,
        *,
        name: str,
        arguments: Mapping[str, Any],  # Any: JSON, as models ask and see it
        deadline: Deadline,
    ) -> JsonObject:
        """The call's answer, filtered and cut. Raises UnknownTool, InvalidParams, and what the domain call raises."""
        tool = self._tools.get(normalize_key(name))
        if tool is None:
            refuse_for_good(name)
            raise UnknownTool(f"no tool is called {name[:64]!r}", available=sorted(self._tools))
        pi_tool = PiTool(str(tool.name))
        if self._only_rehearses and pi_tool in _LASTING:
            raise ChatOnlyRehearses(f"{tool.name} would take effect; here actions are previewed and nothing more")
        # A strict provider sends every parameter of the union, those not meant as null.
        given = {str(key): value for key, value in arguments.items() if value is not None}
        if pi_tool not in _FREE_FORM:
            _check_schema(tool, given)
        answer = self._handlers[pi_tool](self, given, deadline)
        cut: dict[str, object] = filter_result(answer, most_characters=settings.GOLEM_THINKING_RESULT_CHARACTERS)
        return cut

    def _preview(
        self,
        given: dict[str, object],
        deadline: Deadline,
    ) -> JsonObject:
        told, _ = preview_module_wish(
            golem_id=self._golem.pk, body=flatten_params(given), toolset=self._toolset, now=self._read_now()
        )
        body = dict(told)
        action_type, venue = _read_word(body, "action_type"), _read_word(body, "venue", is_required=False)
        tool = self._resolve(pi_tool=PiTool.PREVIEW_ACTION, key=action_type, venue=venue or None)
        body["venue"] = tool.venue
        try:
            waiting = self._find_waiting(tool, body)
            if waiting is not None:
                return waiting
            now = self._read_now()
            permit = preview_action(
                golem_id=self._golem.pk, api_key_id=self._api_key_id, body=body, now=now, actor=self._actor
            )
        except GolemError as error:
            record_preview_denial(
                golem_id=self._golem.pk, actor=self._actor, body=body, error=error, now=self._read_now()
            )
            raise
        self._note(permit, PermitStep.PREVIEWED)
        # An equal action that began to wait for owners meanwhile is answered with its own permit, which stays.
        told_permit = read_stored(_ToldPermit, permit)
        is_ours = datetime.fromisoformat(told_permit.created_at) >= now
        return self._give_back(told_permit) if self._only_rehearses and is_ours else permit

    def _give_back(self, permit: _ToldPermit) -> dict[str, object]:
        """A permit made in a rehearsal: cancelled at once, so that it holds no limit and nobody can use it."""
        return request_cancel(
            golem=self._golem,
            permit_id=UUID(permit.permit_id),
            reason="previewed in a conversation, where nothing takes effect",
            actor=self._actor,
            now=self._read_now(),
        )

    def _find_waiting(self, tool: ToolDef, body: Mapping[str, object]) -> dict[str, object] | None:
        """The permit of an equal action that waits for its announced time: it comes by itself, and only once.

        In a rehearsal also one that waits for owners: it is somebody's who means it.
        """
        statuses = [PermitStatus.ANNOUNCED]
        if self._only_rehearses:
            statuses.append(PermitStatus.AWAITING_APPROVAL)
        params = runner.check_params(tool=tool, params=read_params(body))
        action_hash = hash_meant(golem=self._golem, tool=tool, params=params)
        permit = ActionPermit.objects.filter(golem=self._golem, action_hash=action_hash, status__in=statuses).first()
        return None if permit is None else view_permit(permit)

    def _commit(
        self,
        given: JsonObject,
        deadline: Deadline,
    ) -> dict[str, object]:
        asked = read_stored(_AskedCommit, given)
        if not self._is_live:
            raise GolemInDryRun("this golem rehearses: its owner can set it live", permit_id=asked.permit_id)
        answer = request_commit(
            golem=self._golem,
            api_key=None,
            permit_id=UUID(asked.permit_id),
            wait_seconds=min(settings.GOLEM_COMMIT_WAIT_SECONDS, deadline.remaining_ms() / 1000),
            request_id=self._actor,
        )
        self._note(answer.permit, PermitStep.COMMITTED)
        refusal = answer.refusal
        if refusal is not None:
            raise refusal
        return {
            "status": read_stored(_ToldPermit, answer.permit).status,
            "permit": answer.permit,
            "result": answer.result if answer.is_done and answer.result else None,
        }

    def _cancel(
        self,
        given: JsonObject,
        deadline: Deadline,
    ) -> dict[str, object]:
        asked = read_stored(_AskedCancel, given)
        permit = request_cancel(
            golem=self._golem,
            permit_id=UUID(asked.permit_id),
            reason=asked.reason,
            actor=self._actor,
            now=self._read_now(),
        )
        self._note(permit, PermitStep.CANCELLED)
        return permit

    def _query(
        self,
        given: dict[str, object],
        deadline: Deadline,
    ) -> JsonObject:
        return self._read(_flatten_query(given), "query", PiTool.QUERY_STATE)

    def _search(
        self,
        given: JsonObject,
        deadline: Deadline,
    ) -> dict[str, object]:
        if "read" in given:
            return self._read(given, "read", PiTool.SEARCH_CONTEXT)
        asked = read_stored(_AskedSearch, given)
        return gather_context(
            golem=self._golem,
            query=asked.query,
            limit=asked.limit,
            now=self._read_now(),
            api_key_id=self._api_key_id,
        )

    def _recall(
        self,
        given: JsonObject,
        deadline: Deadline,
    ) -> dict[str, object]:
        if "read" in given:
            return self._read(given, "read", PiTool.QUERY_GRIMOIRE)
        asked = read_stored(_AskedSearch, given)
        return request_query_grimoire(
            golem_id=self._golem.pk,
            query=asked.query,
            store=asked.store,
            limit=asked.limit,
            filters={name: value for name, value in given.items() if name not in _SEARCH_WORDS},
            now=self._read_now(),
        )

    def _update(
        self,
        given: JsonObject,
        deadline: Deadline,
    ) -> dict[str, object]:
        return update_directive(golem_id=self._golem.pk, actor=self._actor, now=self._read_now(), **given)

    def _halt(self, given: JsonObject, deadline: Deadline) -> JsonObject:
        report = request_halt(golem=self._golem, actor=self._actor, now=self._read_now(), **given)
        self._is_over = True
        return report

    def _read(
        self,
        given: JsonObject,
        word: str,
        pi_tool: PiTool,
    ) -> JsonObject:
        key, cursor = _read_word(given, word), _read_word(given, "cursor", is_required=False)
        has_venue = pi_tool is not PiTool.QUERY_GRIMOIRE
        venue = _read_word(given, "venue", is_required=False) if has_venue else ""
        own_words = {word, "cursor", "venue"} if has_venue else {word, "cursor"}
        params = {name: value for name, value in given.items() if name not in own_words}
        if pi_tool is PiTool.QUERY_STATE and normalize_key(key) in TIER_KEYS:
            return answer_tier_query(
                key=normalize_key(key), params=params, toolset=self._toolset, loadout=self._loadout, load=self._load
            )
        if not (pi_tool is PiTool.QUERY_STATE and normalize_key(key) in _OWN_KEYS):
            venue = self._resolve(pi_tool=pi_tool, key=key, venue=venue or None).venue
        return query_state(
            golem=self._golem,
            query=key,
            venue=venue or None,
            params=params,
            ignored=frozenset() if pi_tool is PiTool.QUERY_STATE else _SEARCH_WORDS,
            cursor=cursor or None,
            now=self._read_now(),
            api_key_id=self._api_key_id,
            pi_tool=pi_tool,
        )

    def _note(self, permit: Mapping[str, object], step: PermitStep) -> None:
        told = read_stored(_ToldPermit, permit)
        permit_id = UUID(told.permit_id)
        self._touched[permit_id] = TouchedPermit(
            permit_id=permit_id, action_type=told.action_type, venue=told.venue, step=step
        )

    _handlers: Mapping[
        PiTool,
        Callable[
            [ToolDesk, JsonObject, Deadline],
            JsonObject,
        ],
    ] = {
        PiTool.PREVIEW_ACTION: _preview,
        PiTool.COMMIT_ACTION: _commit,
        PiTool.CANCEL_ACTION: _cancel,
        PiTool.QUERY_STATE: _query,
        PiTool.SEARCH_CONTEXT: _search,
        PiTool.QUERY_GRIMOIRE: _recall,
        PiTool.UPDATE_DIRECTIVE: _update,
        PiTool.EMERGENCY_HALT: _halt,
    }


def _check_schema(tool: ManualTool, given: Mapping[str, object]) -> None:
    """The schema the model was shown is the one that is enforced."""
    errors = sorted(Draft202012Validator(tool.parameters).iter_errors(given), key=lambda error: list(error.path))
    if errors:
        fields = {".".join(str(step) for step in error.path) or "arguments": error.message[:200] for error in errors}
        raise InvalidParams(f"{tool.name} does not take these arguments", fields=fields)


def _read_word(given: Mapping[str, object], name: str, *, is_required: bool = True) -> str:
    value = given.get(name)
    if value is None and not is_required:
        return ""
    if not isinstance(value, str) or not value.strip():
        raise InvalidParams(f"{name} must be a word", fields={name: "a word"})
    return value


def _flatten_query(given: Mapping[str, object]) -> dict[str, object]:
    nested = given.get("params")
    outer = {name: value for name, value in given.items() if name != "params"}
    if nested is None:
        return outer
    if not isinstance(nested, Mapping) or set(nested) & set(outer):
        raise InvalidParams("params must be an object and repeat nothing", fields={"params": "an object"})
    return {**outer, **nested}
