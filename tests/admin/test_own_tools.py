"""Tools of an owner in the browser: uploaded, tried, approved for what was shown, revoked; nobody else reaches them."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from archetypes_app.models import DefinitionApproval, Golem
from archetypes_app.toolset import resolve_toolset
from tests import factories
from tests.architecture.sources import ROOT
from tests.tools_app.sandbox.wat import answering
from tools_app.core.required_value import require
from tools_app.models import ActionWish, ToolDefinition, WasmRun
from tools_app.sandbox.owner_toml_definition import read_written

pytestmark = pytest.mark.django_db

TOML = """
name = "moon_gauge"
summary = "How full the moon is"
description = "Tells how full the moon is."
category = "data"
"""
MOON = answering('{"data": {"full": "0.5"}, "action_requests": [{"action_type": "swap"}]}')


class Owner:
    """A person with a golem and a logged-in client."""

    def __init__(self, name: str) -> None:
        self.user = factories.make_owner(name=name)
        self.golem: Golem = factories.make_golem(owner=self.user, name=f"Golem of {name}")
        self.client = Client()
        self.client.force_login(self.user)

    def upload(self, definition: str = TOML, module: bytes | None = MOON) -> Any:
        files = {"definition": SimpleUploadedFile("tool.toml", definition.encode())}
        if module is not None:
            files["module"] = SimpleUploadedFile("tool.wat", module)
        return self.client.post(reverse("admin:tools_app_tooldefinition_upload"), files, follow=True)

    def act(self, what: str, row: Any, **body: Any) -> Any:
        name = f"admin:{row._meta.app_label}_{row._meta.model_name}_{what}"
        return self.client.post(reverse(name, args=[row.pk]), body, follow=True)


@pytest.fixture
def ana() -> Owner:
    return Owner("ana")


@pytest.fixture
def uploaded(ana: Owner) -> ToolDefinition:
    assert ana.upload().status_code == 200
    return ToolDefinition.objects.get(owner=ana.user)


def test_what_was_uploaded_is_shown_with_imports_limits_and_texts_and_is_no_tool_yet(
    ana: Owner, uploaded: ToolDefinition
) -> None:
    page = ana.client.get(reverse("admin:tools_app_tooldefinition_change", args=[uploaded.pk])).content.decode()
    assert "How full the moon is" in page and "imports nothing" in page and "10,000,000 units of fuel" in page
    assert require(uploaded.module).sha256[:8] in page
    assert "moon_gauge" not in resolve_toolset(ana.golem)


def test_a_try_runs_in_dry_mode_and_keeps_its_history_and_no_wish(ana: Owner, uploaded: ToolDefinition) -> None:
    page = ana.act("try_out", uploaded, golem=ana.golem.pk, params="{}").content.decode()
    assert "&quot;full&quot;: &quot;0.5&quot;" in page
    assert WasmRun.objects.get().is_dry and not ActionWish.objects.exists()
    assert "INVALID_PARAMS" in ana.act("try_out", uploaded, golem=ana.golem.pk, params='{"x": 1}').content.decode()


def test_an_approval_of_what_was_shown_makes_it_a_tool_and_a_revocation_ends_it(
    ana: Owner, uploaded: ToolDefinition
) -> None:
    ana.act("approve", uploaded, seen_hash="0x" + "00" * 32, golems=[ana.golem.pk])
    assert not DefinitionApproval.objects.exists()
    ana.act("approve", uploaded, seen_hash=uploaded.definition_hash, golems=[ana.golem.pk])
    approval = DefinitionApproval.objects.get()
    assert "moon_gauge" in resolve_toolset(ana.golem)
    ana.act("revoke", approval, reason="not needed any more")
    approval.refresh_from_db()
    assert approval.revoked_reason == "not needed any more"
    assert "moon_gauge" not in resolve_toolset(ana.golem)


def test_a_tool_that_is_a_text_alone_is_uploaded_tried_and_downloaded_as_it_was(ana: Owner) -> None:
    text = (ROOT / "tools_app" / "sandbox" / "template" / "coin_lookup.toml").read_text()
    ana.upload(text, None)
    row = ToolDefinition.objects.get(owner=ana.user)
    page = ana.client.get(reverse("admin:tools_app_tooldefinition_change", args=[row.pk])).content.decode()
    assert "https://index.example.com/v1/coins/{coin}/price" in page and "not approved" in page
    loop = text.replace("https://index.example.com", "https://127.0.0.1")
    ana.upload(loop, None)
    local = ToolDefinition.objects.get(owner=ana.user, version=2)
    tried = ana.act("try_out", local, golem=ana.golem.pk, params='{"coin": "eth", "currency": "usd"}').content.decode()
    assert "WRITTEN_TOOL_ADDRESS_REFUSED" in tried
    saved = ana.client.get(reverse("admin:tools_app_tooldefinition_download", args=[row.pk]))
    assert read_written(saved.content.decode()).hash == row.definition_hash
    assert Owner("ben").client.get(reverse("admin:tools_app_tooldefinition_download", args=[row.pk])).status_code == 404


def test_a_new_version_is_asked_about_with_what_changed(ana: Owner, uploaded: ToolDefinition) -> None:
    ana.act("approve", uploaded, seen_hash=uploaded.definition_hash, golems=[ana.golem.pk])
    ana.upload(TOML.replace("How full", "How round"))
    second = ToolDefinition.objects.get(owner=ana.user, version=2)
    page = ana.client.get(reverse("admin:tools_app_tooldefinition_approve", args=[second.pk])).content.decode()
    assert "summary: How full the moon is → How round the moon is" in page


def test_another_owner_neither_sees_nor_tries_nor_approves_it(ana: Owner, uploaded: ToolDefinition) -> None:
    ben = Owner("ben")
    assert ben.act("approve", uploaded, seen_hash=uploaded.definition_hash, golems=[ben.golem.pk]).status_code == 404
    assert ben.act("try_out", uploaded, golem=ben.golem.pk, params="{}").status_code == 404
    ana.act("approve", uploaded, seen_hash=uploaded.definition_hash, golems=[ben.golem.pk])
    assert not DefinitionApproval.objects.exists()


def test_what_is_refused_says_why_and_stores_nothing(ana: Owner) -> None:
    page = ana.upload(TOML.replace("moon_gauge", "preview_actlon")).content.decode()
    assert "could be taken for preview_action" in page
    page = ana.upload(TOML, b"(component)").content.decode()
    assert "export run" in page
    assert not ToolDefinition.objects.exists()


def test_a_golem_is_pinned_on_its_page_and_told_what_is_left_out(ana: Owner) -> None:
    page = reverse("admin:archetypes_app_golem_definitions", args=[ana.golem.pk])
    ana.client.post(page, {"is_pinned": "on"})
    ana.golem.refresh_from_db()
    name = next(iter(resolve_toolset(ana.golem).tools))
    Golem.objects.filter(pk=ana.golem.pk).update(seen_definitions={**require(ana.golem.seen_definitions), name: "0x00"})
    text = ana.client.get(page).content.decode()
    assert "Refused until you agree" in text and f"<strong>{name}</strong>" in text
    assert Owner("ben").client.get(page).status_code == 404
    ana.client.post(page, {})
    ana.golem.refresh_from_db()
    assert ana.golem.seen_definitions is None
