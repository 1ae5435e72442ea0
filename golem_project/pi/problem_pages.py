"""Answers to what no view handled: problem+json under /api/, Django's plain pages elsewhere."""

from __future__ import annotations

import sys

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views import defaults

from golem_project.middleware.restore_form_after_login import has_typed, show_kept
from golem_project.pi.errors import BadRequest, BodyTooLarge, Forbidden, RouteNotFound
from golem_project.pi.exception_handler import PROBLEM_JSON, answer_request
from tools_app.core.errors import InternalError
from tools_app.core.resource_errors import is_full_disk

API_PREFIX = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request):
        return _problem(request, BodyTooLarge() if isinstance(exception, RequestDataTooBig) else BadRequest())
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request):
        return _problem(request, Forbidden())
    if has_typed(request):
        why = "Your account may not do this. Whoever runs the server can say who may."
        return show_kept(request, "Not allowed", why, request.path)
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request):
        return _problem(request, RouteNotFound("no such path; GET /api/v1/pi/manifest lists the tools"))
    if has_typed(request):
        why = "What this was sent to is gone, or not yours to see."
        return show_kept(request, "There is nothing here", why, reverse("admin:index"), status=404)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest, *_: object) -> HttpResponse:
    if is_api(request):
        return _problem(request, InternalError("the failure is in our log under this request id"))
    error = sys.exc_info()[1]
    if error is not None and is_full_disk(error):
        why = (
            "STORAGE_FULL: the server's disk has no room for a file that this needs; what it needs the file for was not"
            " done. Whoever runs the server makes room; then send it again."
        )
        return show_kept(request, "There is no room on the server's disk", why, request.path, status=503)
    if has_typed(request):
        why = "The failure is in the server's log with the id of this request. Look first whether it was done."
        return show_kept(request, "Something failed here", why, request.path, status=500)
    return defaults.server_error(request)


def form_out_of_date(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without its CSRF mark: nothing was done, and what a person typed comes back, secrets left out."""
    if is_api(request):
        return _problem(request, Forbidden())
    why = "Your browser did not send the mark of this form: its cookie is missing, or you logged in or out meanwhile."
    return show_kept(request, "This form is out of date", why, request.get_full_path())


def is_api(request: HttpRequest) -> bool:
    """Whether an agent, rather than a person, is asking."""
    return request.path.startswith(API_PREFIX)


def _problem(request: HttpRequest, error: Exception) -> HttpResponse:
    problem, headers = answer_request(error, request)
    return JsonResponse(problem, status=problem["status"], headers=headers, content_type=PROBLEM_JSON)
