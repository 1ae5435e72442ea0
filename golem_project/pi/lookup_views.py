"""Shows an agent its own manifest and permits."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from archetypes_app.models.api_key import Scope
from archetypes_app.toolset import view_golem
from golem_project.pi import serializers as wire
from golem_project.pi.endpoint import REFUSALS, PiView, has_memory, parse_input, render_answer
from golem_project.pi.manifest import build_manifest
from golem_project.pi.provider_tool_formats import Dialect
from golem_project.pi.request_preferences import read_dialect
from permits_app.permits.selectors import get_permit, list_permits


class ManifestView(PiView):
    """The tools this golem has, made from its own toolset; unchanged answers cost 304 with the ETag."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id="manifest",
        summary="The golem's tools, for its model",
        parameters=[
            OpenApiParameter("dialect", str, enum=[d.value for d in Dialect], description="A provider's own shape"),
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER),
        ],
        responses={200: wire.ManifestOutput, 304: OpenApiResponse(description="Unchanged"), **REFUSALS},
    )
    def get(self, request: Request) -> Response:
        golem = self.agent.golem
        manifest = build_manifest(
            golem=view_golem(golem),
            toolset=self.agent.shelf.toolset,
            loadout=self.agent.shelf.loadout,
            permit_ttl_seconds=golem.permit_ttl_seconds,
            has_memory=has_memory(golem),
            dialect=read_dialect(request),
        )
        headers = {"ETag": manifest.etag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
        known = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
        if manifest.etag in known or "*" in known:
            return Response(status=304, headers=headers)
        return Response(manifest.body, headers=headers)


class PermitListView(PiView):
    """The golem's own permits, newest first."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id="list_permits",
        summary="The golem's permits, newest first",
        parameters=[wire.PermitListQuery],
        responses={200: wire.PermitListOutput, **REFUSALS},
    )
    def get(self, request: Request) -> Response:
        values = parse_input(wire.PermitListQuery, request.query_params.dict())
        if "cursor" in values:
            values["cursor"] = str(values["cursor"])
        return render_answer(list_permits(golem=self.agent.golem, **values))


class PermitView(PiView):
    """One permit; another golem's answers as if it did not exist."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id="get_permit",
        summary="One permit of the golem",
        responses={200: wire.PermitOutput, **REFUSALS},
    )
    def get(self, request: Request, permit_id: UUID) -> Response:
        return render_answer(get_permit(golem=self.agent.golem, permit_id=permit_id))
