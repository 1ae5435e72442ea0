"""Addresses of the approval pages, below the admin's list of change requests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib.admin import ModelAdmin
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path

from permits_app.approval_pages import second_factor_pages, views
from permits_app.models import ChangeRequest

NAME = "permits_app_changerequest"


def list_urls(model_admin: ModelAdmin[ChangeRequest]) -> list[URLPattern]:
    """Every page, wrapped by the admin's own check of who may come in."""

    def wrap(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
        return model_admin.admin_site.admin_view(partial(view, model_admin=model_admin))

    return [
        path("inbox/", wrap(views.show_inbox), name=f"{NAME}_inbox"),
        path("second-factors/", wrap(second_factor_pages.show_factors), name=f"{NAME}_second_factors"),
        path("second-factor/", wrap(second_factor_pages.enrol), name=f"{NAME}_second_factor"),
        path("second-factor/remove/", wrap(second_factor_pages.remove_code), name=f"{NAME}_second_factor_remove"),
        path("passkeys/ask/", wrap(second_factor_pages.ask_passkey), name=f"{NAME}_passkey_ask"),
        path("passkeys/<int:passkey_id>/rename/", wrap(second_factor_pages.rename), name=f"{NAME}_passkey_rename"),
        path("passkeys/<int:passkey_id>/remove/", wrap(second_factor_pages.remove), name=f"{NAME}_passkey_remove"),
        path("announced/<uuid:permit_id>/cancel/", wrap(views.cancel_announcement), name=f"{NAME}_announced_cancel"),
        path("<uuid:object_id>/change/", wrap(views.show_request), name=f"{NAME}_change"),
        path("<uuid:object_id>/short/", wrap(views.show_short), name=f"{NAME}_short"),
        path("<uuid:object_id>/decide/", wrap(views.decide), name=f"{NAME}_decide"),
        path("<uuid:object_id>/sign/", wrap(views.sign), name=f"{NAME}_sign"),
        path("<uuid:object_id>/execute/", wrap(views.raw_call), name=f"{NAME}_raw_call"),
        path("<uuid:object_id>/use-up-nonce/", wrap(views.use_up_nonce), name=f"{NAME}_use_up_nonce"),
        path("<uuid:object_id>/comment/", wrap(views.comment), name=f"{NAME}_comment"),
        path("<uuid:object_id>/cancel/", wrap(views.cancel), name=f"{NAME}_cancel"),
        path("<uuid:object_id>/export/", wrap(views.export), name=f"{NAME}_export"),
    ]
