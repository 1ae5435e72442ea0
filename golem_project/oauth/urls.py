"""The paths of signing an agent in."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from golem_project.oauth import views

urlpatterns = [
    path("sign-in", RedirectView.as_view(pattern_name="sign_in_agent"), name="sign_in"),
    path("oauth/device_authorization", views.ask, name="oauth_ask"),
    path("oauth/token", views.give_token, name="oauth_token"),
    path("oauth/revoke", views.revoke, name="oauth_revoke"),
    path(".well-known/oauth-authorization-server", views.show_server, name="oauth_server"),
    path(".well-known/oauth-protected-resource", views.show_resource, name="oauth_resource"),
    path(".well-known/oauth-protected-resource/<path:path>", views.show_resource, name="oauth_resource_of"),
]
