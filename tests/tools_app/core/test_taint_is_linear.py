"""Redaction of hostile text takes time in proportion to its length."""

from __future__ import annotations

import time

import pytest

from tools_app.core.taint import DataSink, redact_text

BEGINNINGS = ("sk-1", "eyJa.", "-----BEGIN PRIVATE KEY-----", "able ", "xoxb-", "SG.", "secret: ")


@pytest.mark.parametrize(
    "piece", ["x", "a.", "a-", "bearer ", "http://", "golem_", "password=", "1@", "a@a.", *BEGINNINGS]
)
def test_a_hundred_kilobytes_of_anything_are_redacted_in_under_a_second_of_this_thread(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.thread_time()
    redact_text(text, sink=DataSink.EVENTS)
    assert time.thread_time() - started < 1


def test_an_address_of_mail_is_still_found_inside_long_text() -> None:
    text = redact_text("x" * 5_000 + " who.is+it@mail.example.org " + "y" * 5_000, sink=DataSink.EVENTS)
    assert "mail.example.org" not in text
