"""Paths around the protocol. The protocol's own, /a2a/<golem>/ and /a2a/<golem>/rest/, are served before Django."""

from __future__ import annotations

from django.urls import path

from golem_project.a2a import views, x402_endpoint

urlpatterns = [
    path(".well-known/agent-card.json", views.show_root_card, name="a2a_root_card"),
    path(".well-known/agent.json", views.show_root_card, name="a2a_root_card_before_0_3"),
    path(".well-known/agent-registration.json", views.show_registrations, name="a2a_registrations"),
    path("a2a/keys.json", views.show_keys, name="a2a_keys"),
    path("a2a/<uuid:golem_id>/.well-known/agent-card.json", views.show_agent_card, name="a2a_card"),
    path("a2a/<uuid:golem_id>/.well-known/agent.json", views.show_agent_card, name="a2a_card_before_0_3"),
    path("a2a/<uuid:golem_id>/challenge", views.give_challenge, name="a2a_challenge"),
    path("a2a/<uuid:golem_id>/paid/<str:venue>/<str:query>", x402_endpoint.answer_paid_read, name="a2a_paid_read"),
    path("a2a/<uuid:golem_id>/visit", views.give_visit, name="a2a_visit"),
]
