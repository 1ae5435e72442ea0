"""Reads a passkey's answer out of a page's request: its text, its session, and its site."""

from __future__ import annotations

from django.http import HttpRequest

from permits_app.approval_errors import PasskeyRefused, PasskeysNotSetUp
from permits_app.approvals.passkey_challenges import PasskeyAnswer
from permits_app.approvals.passkey_site import PasskeySite, find_site


def read_site(request: HttpRequest) -> PasskeySite:
    """The site of this page. Raises PasskeysNotSetUp."""
    return find_site(scheme=request.scheme or "http", host=request.get_host())


def find_problem(request: HttpRequest) -> str:
    """Why no passkey works on this page; empty where they do."""
    try:
        read_site(request)
    except PasskeysNotSetUp as error:
        return error.detail
    return ""


def read_answer(request: HttpRequest, text: str, *, is_needed: bool = False) -> PasskeyAnswer | None:
    """What was handed in; None for nothing. Raises PasskeysNotSetUp, and PasskeyRefused for nothing that is needed."""
    if text.strip():
        return PasskeyAnswer(text, request.session.session_key or "", read_site(request))
    if is_needed:
        raise PasskeyRefused("no passkey was handed in; your browser asks for it when you press the button")
    return None
