"""The page of a second fence: the cage's rules as a manifest of Zodiac Roles v2, and the chain held against it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.views.decorators.http import require_GET

from archetypes_app.models import Golem
from permits_app.admin.cage_pages import get_caged
from permits_app.admin.golem_site import Wrap, as_golem_admin
from permits_app.approval_pages.compare_roles_form import FenceForm
from permits_app.custody.safe_view import open_chain
from permits_app.models import CageMirror
from permits_app.policy_cage.roles_check import (
    FenceCheck,
    build_document,
    check_roles,
    name_functions,
    read_manifest,
)
from permits_app.words.address_book import read_book
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.wording.formats import format_chain


@dataclass(frozen=True, slots=True)
class _WantedComparison:
    """The contract, the role and the block it is read from."""

    roles: str
    role: str
    since: int


class FencePages:
    """Two pages of the golem's admin: what stands, and a file of what its owners sign. Neither sends anything."""

    def list_fence_urls(self, wrap: Wrap, name: str) -> list[object]:
        """Their addresses."""
        return [
            path("<uuid:golem_id>/cage/roles/", wrap(require_GET(self.fence_view)), name=f"{name}_fence"),
            path("<uuid:golem_id>/cage/roles/file/", wrap(require_GET(self.fence_file)), name=f"{name}_fence_file"),
        ]

    def fence_view(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """The manifest, and, of the contract that is asked for, every difference."""
        golem, mirror = get_caged(self, request, golem_id)
        form = FenceForm(request.GET) if "roles" in request.GET else FenceForm()
        if not form.is_bound:
            return self._show_fence(request, golem, mirror, form)
        if not form.is_valid():
            return self._show_fence(request, golem, mirror, form, http_status=422)
        try:
            check = _check(mirror, form)
        except GolemError as error:
            return self._show_fence(request, golem, mirror, form, refusal=error, http_status=error.http_status)
        return self._show_fence(request, golem, mirror, form, check=check)

    def fence_file(self, request: HttpRequest, golem_id: UUID) -> HttpResponse:
        """What the owners of the Safe sign so that the chain says what the manifest says; read anew."""
        golem, mirror = get_caged(self, request, golem_id)
        form = FenceForm(request.GET)
        if not form.is_valid():
            return HttpResponseRedirect(reverse("admin:archetypes_app_golem_fence", args=[golem.pk]))
        try:
            check = _check(mirror, form)
        except GolemError as error:
            return self._show_fence(request, golem, mirror, form, refusal=error, http_status=error.http_status)
        document = build_document(check.calls, chain_id=mirror.chain_id, safe=mirror.account)
        answer = JsonResponse(document, json_dumps_params={"indent": 1})
        answer["Content-Disposition"] = f'attachment; filename="roles-{golem.pk}.json"'
        answer["Cache-Control"] = "no-store"
        return answer

    def _show_fence(
        self,
        request: HttpRequest,
        golem: Golem,
        mirror: CageMirror,
        form: FenceForm,
        *,
        check: FenceCheck | None = None,
        refusal: GolemError | None = None,
        http_status: int = 200,
    ) -> HttpResponse:
        admin = as_golem_admin(self)
        manifest = check.manifest if check else read_manifest(mirror)
        book = read_book(golem.owner_id)

        def say(lines: tuple[str, ...]) -> list[str]:
            named = name_functions(lines, chain_id=mirror.chain_id)
            return [book.in_full(mirror.chain_id, line) for line in named]

        context = {
            **admin.admin_site.each_context(request),
            "title": f"A second fence of {golem.name}",
            "opts": admin.opts,
            "golem": golem,
            "mirror": mirror,
            "chain": format_chain(mirror.chain_id),
            "form": form,
            "functions": len(manifest.permissions),
            "allowances": len(manifest.allowances),
            "left_out": say(manifest.left_out),
            "looser": say(manifest.looser),
            "check": check,
            "differences": say(check.differences) if check else [],
            "refusal": refusal,
            "asked": request.GET.urlencode(),
        }
        return TemplateResponse(request, "permits_app/approvals/fence.html", context, status=http_status)


def _check(mirror: CageMirror, form: FenceForm) -> FenceCheck:
    given = read_stored(_WantedComparison, form.cleaned_data)
    chain = open_chain(mirror.chain_id, now=clock.now())
    return check_roles(chain, mirror, roles=given.roles, role=given.role, since=given.since)
