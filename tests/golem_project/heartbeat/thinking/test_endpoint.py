"""Where a model may be: public and encrypted, or local where the operator says so; nowhere else, whatever DNS says."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import httpx2
import pytest

from golem_project.heartbeat.thinking import endpoint as endpoint_module
from golem_project.heartbeat.thinking.endpoint import check_address, choose_address, is_local, parse_endpoint
from golem_project.heartbeat.thinking.errors import ModelAnswerInvalid, ModelEndpointRefused
from golem_project.heartbeat.thinking.model_http import make_client
from tests.scripted_model import raw, redirect, say, serve_model

PUBLIC = "https://models.example.com/v1"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models.example.com",
        "ftp://models.example.com",
        "file:///etc/passwd",
        "https://",
        "https://:443/v1",
        "http://models.example.com/v1",
        "https://user:pass@models.example.com/v1",
        "https://key@models.example.com",
        "https://models.example.com/v1?key=abc",
        "https://models.example.com/v1#x",
        "https://models.example.com:99999",
        "gopher://127.0.0.1",
        "https://[::1",
    ],
)
def test_an_endpoint_that_is_no_plain_https_address_is_refused(url: str) -> None:
    with pytest.raises(ModelEndpointRefused) as refused:
        parse_endpoint(url, allow_local=False)
    assert "pass" not in refused.value.detail and "abc" not in refused.value.detail


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.1.1",
        "172.16.0.9",
        "169.254.169.254",
        "0.0.0.0",
        "::1",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        # Inside, by a way that carries IPv4 within IPv6: NAT64, 6to4, Teredo.
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::10.1.2.3",
        "2002:7f00:1::1",
        "2001:0:7f00:1::1",
    ],
)
def test_an_address_inside_is_refused_unless_the_operator_allows_a_local_endpoint(address: str) -> None:
    with pytest.raises(ModelEndpointRefused):
        check_address(parse_endpoint(PUBLIC, allow_local=False), address)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "192.168.1.1", "::1", "fd00::1"])
def test_the_operator_may_allow_a_local_one(address: str) -> None:
    check_address(parse_endpoint("http://box.lan:11434/v1", allow_local=True), address)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"]
)
def test_link_local_and_odd_addresses_are_refused_even_then(address: str) -> None:
    with pytest.raises(ModelEndpointRefused):
        check_address(parse_endpoint("http://box.lan/v1", allow_local=True), address)


def test_plain_http_never_goes_outside() -> None:
    with pytest.raises(ModelEndpointRefused, match="outside"):
        check_address(parse_endpoint("http://models.example.com/v1", allow_local=True), "93.184.216.34")
    check_address(parse_endpoint(PUBLIC, allow_local=True), "93.184.216.34")


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def answer(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]

    monkeypatch.setattr(endpoint_module.socket, "getaddrinfo", answer)


def test_one_address_inside_among_several_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_to(monkeypatch, "93.184.216.34", "10.0.0.1")
    with pytest.raises(ModelEndpointRefused):
        asyncio.run(choose_address(parse_endpoint(PUBLIC, allow_local=False)))


def test_a_name_counts_as_local_only_when_all_its_addresses_are(monkeypatch: pytest.MonkeyPatch) -> None:
    found = parse_endpoint("http://box.lan/v1", allow_local=True)
    resolve_to(monkeypatch, "10.0.0.1", "127.0.0.1")
    assert is_local(found)
    resolve_to(monkeypatch, "10.0.0.1", "93.184.216.34")
    assert not is_local(found)


def fetch(url: str, *, base: str | None = None, most_bytes: int = 100_000) -> httpx2.Response:
    async def run() -> httpx2.Response:
        endpoint = parse_endpoint(base or url, allow_local=True)
        async with make_client(endpoint, most_bytes=most_bytes, note_bill=lambda _: None) as client:
            return await client.post(url, json={"messages": []})

    return asyncio.run(run())


def test_the_client_reaches_its_endpoint_and_no_other_host() -> None:
    with serve_model([say("here")]) as here, serve_model([say("there")]) as there:
        assert fetch(here.url).status_code == 200
        with pytest.raises(httpx2.ConnectError):
            fetch(there.url, base=here.url)
        assert there.requests == []


def test_a_redirect_is_answered_as_it_is() -> None:
    with serve_model([redirect("http://127.0.0.1:1/")]) as model:
        assert fetch(model.url).status_code == 307


def test_an_answer_that_is_too_long_is_cut_off_while_it_is_read() -> None:
    body = b'"' + b"x" * 49_998 + b'"'
    with serve_model([raw(body)]) as model:
        assert fetch(model.url, most_bytes=50_000).content == body
        with pytest.raises(ModelAnswerInvalid):
            fetch(model.url, most_bytes=49_999)


def test_a_name_that_changes_its_mind_between_check_and_connection_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The address that was checked is the one connected to: the name is resolved once a request."""
    asked: list[str] = []

    async def choose(endpoint: Any) -> str:
        asked.append(endpoint.host)
        return "127.0.0.1"

    with serve_model([say("here")]) as model:
        url = model.url.replace("127.0.0.1", "rebinding.invalid")
        monkeypatch.setattr("golem_project.heartbeat.thinking.model_http.choose_address", choose)
        assert fetch(url).status_code == 200
    assert asked == ["rebinding.invalid"]
