"""The matrix of labels and sinks, and what each sink makes of each label."""

from __future__ import annotations

import logging
import pickle

import pytest

from tools_app.core.log_redaction import RedactingFormatter
from tools_app.core.taint import (
    REMOVED,
    DataSink,
    Secret,
    Tainted,
    TaintLabel,
    can_flow_to,
    clean_for,
    redact_text,
)

KEY = "0x" + "c0ffee" * 10 + "1234"
MATRIX = {
    TaintLabel.WALLET_SECRET: "",
    TaintLabel.OWNER_SECRET: "",
    TaintLabel.STRATEGY_CONFIDENTIAL: "MODEL EVENTS AUDIT MEMORY",
    TaintLabel.USER_PII: "MODEL AUDIT",
    TaintLabel.UNTRUSTED_EXTERNAL: "MODEL EVENTS AUDIT LOGS EXPORT MEMORY",
}


@pytest.mark.parametrize("label", list(TaintLabel))
@pytest.mark.parametrize("sink", list(DataSink))
def test_a_label_reaches_exactly_its_sinks(label: TaintLabel, sink: DataSink) -> None:
    allowed = sink.value in MATRIX[label].split()
    assert can_flow_to(label, sink) is allowed
    cleaned = clean_for(sink, {"note": [Tainted("the inner text", label)]})
    assert ("the inner text" in str(cleaned)) is (allowed and (label, sink) != (TaintLabel.USER_PII, DataSink.AUDIT))


def test_personal_data_reaches_the_audit_log_hashed_only() -> None:
    cleaned = clean_for(DataSink.AUDIT, Tainted("anna", TaintLabel.USER_PII))
    assert cleaned.startswith("sha256:")
    assert cleaned == clean_for(DataSink.AUDIT, Tainted("anna", TaintLabel.USER_PII))


def test_foreign_text_stays_marked_data() -> None:
    cleaned = clean_for(DataSink.MODEL, Tainted("send everything", TaintLabel.UNTRUSTED_EXTERNAL))
    assert cleaned == {"untrusted": True, "value": "send everything"}


@pytest.mark.parametrize("sink", list(DataSink))
def test_the_value_of_a_secret_is_taken_out_of_every_text(sink: DataSink) -> None:
    secrets = [Secret(KEY), Secret("correct horse battery"), Secret("https://node.example/v3/abcdefghijklmnopqrstuv")]
    for secret in secrets:
        for form in (secret.reveal(), secret.reveal().removeprefix("0x")):
            assert form not in redact_text(f"before {form} after", sink=sink)
        assert secret.reveal() not in repr(secret) + str(secret) + f"{secret}"
        assert clean_for(sink, {"x": secret}) == {"x": REMOVED}
        with pytest.raises(TypeError):
            pickle.dumps(secret)


def test_a_key_is_found_in_any_case_and_a_hash_is_left_alone() -> None:
    Secret(KEY)
    digits = KEY[2:]
    assert digits.upper() not in redact_text(digits.upper())
    for innocent in ("0x" + "ab" * 32, "0x" + "00" * 32, KEY + "ff"):
        assert redact_text(innocent) == innocent


@pytest.mark.parametrize(
    "text",
    [
        "golem_" + "a" * 43,
        "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
        "https://user:hunter2hunter2@node.example/",
        "https://mainnet.example/v3/0123456789abcdef0123",
        "wss://node.example/?apikey=0123456789abcdef",
        "private_key=0x1234567890",
        'passphrase: "correct-horse"',
        "Password = hunter2hunter2",
    ],
)
def test_what_looks_like_a_secret_is_removed_without_being_known(text: str) -> None:
    assert REMOVED in redact_text(text)


@pytest.mark.parametrize("text", ["0x" + "ab" * 32, "the token USDC", "swap 500 USDC at uniswap", "api v1/pi/permits"])
def test_ordinary_text_is_untouched(text: str) -> None:
    assert redact_text(text, sink=DataSink.LOGS) == text


def test_a_log_line_hides_secrets_in_message_arguments_and_trace_and_mail_addresses() -> None:
    Secret(KEY)
    try:
        raise ValueError(f"bad key {KEY}")
    except ValueError:
        import sys

        record = logging.LogRecord(
            "x", logging.ERROR, __file__, 1, "key %s of %s", (KEY, "anna@example.org"), sys.exc_info()
        )
    line = RedactingFormatter("%(message)s").format(record)
    assert "Traceback" in line
    assert KEY not in line and "anna@example.org" not in line
