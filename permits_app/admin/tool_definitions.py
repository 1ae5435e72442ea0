"""Tools that owners bring: upload, look at, try, approve for golems with what changed, revoke; the history of calls.

Nothing is edited here: a definition is what it is, and another one is another row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget

from archetypes_app.admin.owner_scope import OwnerScopedAdmin
from archetypes_app.models import DefinitionApproval, Golem
from archetypes_app.ownership import is_operator
from archetypes_app.roles import Power
from archetypes_app.toolset import view_golem
from permits_app.actions.approve_definition import approve_definition, compare_definitions, compare_with_replaced
from permits_app.actions.bring_definition import bring_definition
from permits_app.actions.revoke_definition import revoke_definition
from permits_app.safety.hooks.result_filter import filter_result
from tools_app import runner
from tools_app.admin.read_only import ReadOnlyAdminMixin
from tools_app.core import clock
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.plain_text import PlainTextField
from tools_app.core.stored_json import read_stored
from tools_app.models import ToolDefinition, WasmRun
from tools_app.pages.confirmation import ReasonForm, report_refusal, show_confirmation
from tools_app.pages.form_values import get_field, read_cleaned
from tools_app.pages.html import show_age, show_badge, show_hex
from tools_app.sandbox.definition import MOST_BYTES
from tools_app.sandbox.limits import limits_of
from tools_app.sandbox.module_size import check_size
from tools_app.sandbox.owner_command import command_of
from tools_app.sandbox.owner_http_call import MOST_ANSWER_BYTES
from tools_app.sandbox.owner_tool import make_dry_tool
from tools_app.sandbox.stored_definition import check_stored, write_toml
from tools_app.toolkit.tooldef import ForeignCommandTool

_MOST_PARAMS: Final = 8 * 1024


@dataclass(frozen=True, slots=True)
class _Uploaded:
    definition: UploadedFile[bytes]
    module: UploadedFile[bytes] | None


@dataclass(frozen=True, slots=True)
class _ChosenDefinition:
    seen_hash: str
    golems: QuerySet[Golem]


@dataclass(frozen=True, slots=True)
class _Tried:
    golem: Golem
    params: str


@dataclass(frozen=True, slots=True)
class _DefinitionReason:
    reason: str


class UploadForm(forms.Form):
    """The files of a tool; one that is a text alone has no module."""

    definition = forms.FileField(widget=UnfoldAdminFileFieldWidget(), help_text=f"TOML, at most {MOST_BYTES} bytes")
    module = forms.FileField(
        required=False,
        widget=UnfoldAdminFileFieldWidget(),
        help_text="A WebAssembly component; a large one takes some seconds to compile. None for a tool that asks over "
        "HTTP, puts reads together or runs a program",
    )


class ApproveForm(forms.Form):
    """Which golems get it. The hash is the one this page showed."""

    seen_hash = forms.CharField(widget=forms.HiddenInput)
    golems = forms.ModelMultipleChoiceField(queryset=Golem.objects.none(), widget=forms.CheckboxSelectMultiple)


class TryForm(forms.Form):
    """One call in dry mode."""

    golem = forms.ModelChoiceField(queryset=Golem.objects.none(), help_text="Whose chain and memory it reads")
    params = PlainTextField(
        required=False, initial="{}", widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}), help_text="A JSON object"
    )


class _OwnDefinitions(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Rows of definitions: those of the person who brought them."""

    own_path = "owner"

    def _match_theirs(self, user: Any, power: Power) -> Q:  # Any: whoever is signed in
        return Q(**{self.own_path: user.pk})


@admin.register(ToolDefinition)
class ToolDefinitionAdmin(_OwnDefinitions):
    """Every version of every tool an owner brought."""

    empty_text = "Nobody brought a tool yet. A definition is uploaded, with its module where it has one."
    list_display = ("name", "version", "state", "fingerprint", "brought")
    search_fields = ("=name", "=definition_hash")
    list_select_related = ("module", "owner")
    ordering = ("name", "-version")
    fields = ("name", "version", "state", "fingerprint", "texts", "limits", "module_facts", "changes", "brought")
    readonly_fields = fields
    actions_list = ("upload",)
    actions_detail = ("approve", "try_out", "download")

    @display(description="State")
    def state(self, obj: ToolDefinition) -> SafeString:
        """Approved for how many golems."""
        count = obj.approvals.filter(revoked_at__isnull=True).count()
        return show_badge(f"approved for {count}", "good") if count else show_badge("not approved", "warn")

    @display(description="Hash", ordering="definition_hash")
    def fingerprint(self, obj: ToolDefinition) -> SafeString:
        """What an owner approves."""
        return show_hex(obj.definition_hash)

    @display(description="Brought", ordering="created_at")
    def brought(self, obj: ToolDefinition) -> SafeString:
        """How long ago."""
        return show_age(obj.created_at)

    @display(description="What a model is told")
    def texts(self, obj: ToolDefinition) -> SafeString:
        """Each text with where it stands; words of whoever wrote it."""
        told = check_stored(obj.body).texts()
        return format_html_join("", "<div><b>{}</b> {}</div>", told)

    @display(description="What one call may use")
    def limits(self, obj: ToolDefinition) -> str:
        """Fuel, time, memory of a module; the time and the answer of a text alone."""
        checked = check_stored(obj.body)
        if "command" in obj.body:
            milliseconds = command_of(checked).timeout_ms
            return f"{milliseconds:,} ms, behind the fences of the golem's coding workspace"
        limits = limits_of(checked.budget)
        if obj.module is None:
            return f"{limits.milliseconds:,} ms, {MOST_ANSWER_BYTES // 1024} KiB of an answer over HTTP"
        return (
            f"{limits.fuel:,} units of fuel, {limits.milliseconds:,} ms, {limits.memory_bytes // 2**20} MiB,"
            f" {limits.host_calls} calls of the host, {limits.answer_bytes // 1024} KiB of answer"
        )

    @display(description="What it does")
    def module_facts(self, obj: ToolDefinition) -> SafeString:
        """A module's bytes, and what it imports beside what it may; what a text alone asks, to the letter."""
        if obj.module is None:
            asked = {name: obj.body[name] for name in ("http", "compose", "command") if name in obj.body}
            return format_html('<pre class="gx-pre">{}</pre>', json.dumps(asked, indent=1, ensure_ascii=False))
        return format_html(
            "{} bytes, {}<br>imports {}<br>may use {}",
            f"{obj.module.size:,}",
            show_hex(obj.module.sha256),
            ", ".join(obj.module.imports) or "nothing",
            ", ".join(sorted(check_stored(obj.body).members.capabilities)) or "nothing",
        )

    @display(description="Against the approved version")
    def changes(self, obj: ToolDefinition) -> SafeString | str:
        """Member by member."""
        before = _find_approved(obj)
        if before is None:
            return _list_changes(compare_with_replaced(obj)) or "no version of it is approved"
        if before.pk == obj.pk:
            return "this is the approved version"
        return _list_changes(compare_definitions(before, obj))

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolDefinition]:
        """Without the modules' bytes, of which no page shows any."""
        return super().get_queryset(request).defer("module__content")

    def has_upload_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may bring a tool; approving and trying are for the same people, on rows of theirs."""
        return bool(request.user.has_perm("tools_app.add_tooldefinition"))

    @action(description="Upload a tool", url_path="upload", permissions=["upload"])
    def upload(self, request: HttpRequest) -> HttpResponse:
        """Take a definition and its module."""
        back = reverse("admin:tools_app_tooldefinition_changelist")
        form = UploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            files = read_cleaned(_Uploaded, form)
            try:
                module = files.module
                if (files.definition.size or 0) > MOST_BYTES:
                    raise InvalidParams("the definition is larger than it may be")
                check_size((module.size or 0) if module else 0)
                definition = bring_definition(
                    owner=request.user,
                    definition_text=files.definition.read().decode("utf-8"),
                    module=module.read() if module else None,
                    now=clock.now(),
                )
            except UnicodeDecodeError:
                return report_refusal(request, InvalidParams("the definition is no UTF-8 text"), back)
            except GolemError as error:
                return report_refusal(request, error, back)
            messages.success(request, f"{definition} is stored. No golem has it before you approve it.")
            return HttpResponseRedirect(reverse("admin:tools_app_tooldefinition_change", args=[definition.pk]))
        return show_confirmation(
            request=request,
            model_admin=self,
            title="Upload a tool",
            form=form,
            submit="Upload",
            back_url=back,
            explanation="It is read and screened, a module compiled; nothing runs, and no golem has it by this.",
        )

    @action(description="Approve", url_path="approve", permissions=["upload"])
    def approve(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give it to golems."""
        row: ToolDefinition = self.get_row(request, object_id)
        self._check_owner(request, row)
        back = reverse("admin:tools_app_tooldefinition_change", args=[row.pk])
        form = ApproveForm(request.POST or None, initial={"seen_hash": row.definition_hash})
        golems = get_field(form, forms.ModelMultipleChoiceField, "golems")
        golems.queryset = Golem.objects.filter(owner_id=request.user.pk)
        if request.method == "POST" and form.is_valid():
            given = read_cleaned(_ChosenDefinition, form)
            chosen: list[UUID] = [golem.pk for golem in given.golems]
            try:
                approve_definition(
                    definition=row,
                    seen_hash=given.seen_hash,
                    golem_ids=chosen,
                    owner=request.user,
                    now=clock.now(),
                )
            except GolemError as error:
                return report_refusal(request, error, back)
            names = ", ".join(golem.name for golem in given.golems)
            messages.success(request, f"{row} is a tool of {names} from now on.")
            return HttpResponseRedirect(back)
        before = _find_approved(row)
        told = _spell_changes(compare_definitions(before, row))
        replaced = compare_with_replaced(row)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Approve {row}",
            form=form,
            submit="Approve",
            back_url=back,
            subject=row,
            is_dangerous=True,
            explanation=f"You approve exactly {row.definition_hash}. "
            + (f"Against version {before.version}: {told}" if before is not None else "No version of it is approved.")
            + (f" It takes the place of the built-in {row.name}: {_spell_changes(replaced)}" if replaced else ""),
        )

    @action(description="Try it", url_path="try", permissions=["upload"])
    def try_out(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Call it once in dry mode."""
        row: ToolDefinition = self.get_row(request, object_id)
        self._check_owner(request, row)
        form = TryForm(request.POST or None)
        golems = get_field(form, forms.ModelChoiceField, "golem")
        golems.queryset = Golem.objects.filter(owner_id=request.user.pk)
        told = "It runs as in earnest, on the chain as it is now. What it wishes for is shown and not kept."
        if "command" in row.body:
            told = "It is previewed in the golem's coding workspace. Nothing runs."
        if request.method == "POST" and form.is_valid():
            tried = read_cleaned(_Tried, form)
            told = _try(row, tried.golem, tried.params)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Try {row}",
            form=form,
            submit="Run",
            back_url=reverse("admin:tools_app_tooldefinition_change", args=[row.pk]),
            subject=row,
            explanation=told,
        )

    @action(description="Download", url_path="download", permissions=["upload"])
    def download(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Its definition as the TOML it is read from."""
        row: ToolDefinition = self.get_row(request, object_id)
        self._check_owner(request, row)
        response = HttpResponse(write_toml(row.body), content_type="application/toml; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{row.name}.toml"'
        return response

    def _check_owner(self, request: HttpRequest, row: ToolDefinition) -> None:
        if not self.has_upload_permission(request) or row.owner_id != request.user.pk:
            raise PermissionDenied


@admin.register(DefinitionApproval)
class DefinitionApprovalAdmin(ReadOnlyAdminMixin, OwnerScopedAdmin):
    """Which golem has which definition, since when, and what ended it."""

    empty_text = "No tool of an owner is approved for a golem."
    list_display = ("tool_name", "golem", "state", "fingerprint", "approved_at")
    list_select_related = ("golem", "definition")
    search_fields = ("=tool_name",)
    fields = (
        "golem",
        "tool_name",
        "state",
        "fingerprint",
        "definition",
        "approver",
        "approved_at",
        "revoked_reason",
    )
    readonly_fields = (*fields, "version")
    actions_detail = ("revoke",)

    def get_fields(self, request: HttpRequest, obj: DefinitionApproval | None = None) -> list[str]:
        """The definition leads to its page, which its owner alone opens; others read which it is."""
        is_own = obj is None or is_operator(request.user) or obj.definition.owner_id == request.user.pk
        found: list[str] = super().get_fields(request, obj)
        return [name if is_own or name != "definition" else "version" for name in found]

    @display(description="Definition")
    def version(self, obj: DefinitionApproval) -> str:
        """Which one."""
        return str(obj.definition)

    @display(description="Approved by")
    def approver(self, obj: DefinitionApproval) -> str:
        """A name without a link: people are the operators' to see."""
        return str(obj.approved_by or "this server")

    @display(description="State")
    def state(self, obj: DefinitionApproval) -> SafeString:
        """Living or ended."""
        return show_badge("ended", "") if obj.revoked_at else show_badge("in use", "good")

    @display(description="Hash")
    def fingerprint(self, obj: DefinitionApproval) -> SafeString:
        """What was approved."""
        return show_hex(obj.definition_hash)

    def has_revoke_permission(self, request: HttpRequest, object_id: object = None) -> bool:
        """Whoever may change approvals, of a golem that they operate."""
        may = request.user.has_perm("archetypes_app.change_definitionapproval")
        return bool(may) and not self.is_only_seen(request, object_id)

    @action(description="Revoke", url_path="revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take the tool back, with a reason."""
        row: DefinitionApproval = self.get_row_to_act_on(request, object_id)
        if not self.has_revoke_permission(request):
            raise PermissionDenied
        back = reverse("admin:archetypes_app_definitionapproval_change", args=[row.pk])
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            reason = read_cleaned(_DefinitionReason, form).reason
            revoke_definition(approval=row, reason=reason, owner=request.user, now=clock.now())
            messages.success(request, f"{row.tool_name} is no tool of {row.golem} any more.")
            return HttpResponseRedirect(back)
        return show_confirmation(
            request=request,
            model_admin=self,
            title=f"Revoke {row.tool_name}",
            form=form,
            submit="Revoke",
            back_url=back,
            subject=row,
            is_dangerous=True,
            explanation="The golem's next call does not find it; its wishes and its open permits are void.",
        )


@admin.register(WasmRun)
class WasmRunAdmin(_OwnDefinitions):
    """Every call of a module in the last thirty days."""

    own_path = "definition__owner"
    empty_text = "No module was called in the last thirty days."
    list_display = ("definition", "started_at", "outcome", "duration_ms", "fuel_used", "is_dry")
    list_select_related = ("definition",)
    list_filter = ("is_dry",)
    fields = (*list_display, "golem_id", "host_calls", "lines", "error_detail", "params_hash")
    readonly_fields = fields

    @display(description="Outcome")
    def outcome(self, obj: WasmRun) -> SafeString:
        """Its code, or that it answered."""
        return show_badge(obj.error_code, "bad") if obj.error_code else show_badge("answered", "good")


@dataclass(frozen=True, slots=True)
class _Change:
    where: str
    before: object
    after: object


def _read_change(told: Mapping[str, object]) -> _Change:
    return read_stored(_Change, told)


def _spell_changes(changes: list[dict[str, object]]) -> str:
    return "; ".join(f"{each.where}: {each.before} → {each.after}" for each in map(_read_change, changes))


def _list_changes(changes: list[dict[str, object]]) -> SafeString:
    found = [(each.where, each.before, each.after) for each in map(_read_change, changes)]
    return format_html_join("", "<div><b>{}</b>: <del>{}</del> → {}</div>", found)


def _find_approved(row: ToolDefinition) -> ToolDefinition | None:
    """The version an owner is using now, the newest where golems differ."""
    found = ToolDefinition.objects.filter(owner_id=row.owner_id, name=row.name, approvals__revoked_at__isnull=True)
    return found.filter(approvals__isnull=False).order_by("-version").first()


def _try(row: ToolDefinition, golem: Golem, params: str) -> str:
    try:
        given = read_json(params or "{}", most_bytes=_MOST_PARAMS)
        if not isinstance(given, dict):
            raise InvalidParams("the parameters are one JSON object")
        tool = make_dry_tool(row)
        if isinstance(tool, ForeignCommandTool):
            checked = runner.check_params(tool=tool, params=given)
            effect = runner.preview_local(tool=tool, params=checked, golem=view_golem(golem), now=clock.now())
            return f"{effect.summary}: {json.dumps(dict(effect.details), ensure_ascii=False)}"
        result = runner.run_read(tool=tool, params=given, golem=view_golem(golem), now=clock.now())
    except OutsideTextRefused as refusal:
        return f"The parameters are no JSON: {refusal}"
    except GolemError as error:
        return f"{error.code}: {error.detail}"
    return json.dumps(filter_result(result.data), ensure_ascii=False)
