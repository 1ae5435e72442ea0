"""Two hundred secrets as their makers hand them out do not pass; two hundred harmless texts do, as they are."""

from __future__ import annotations

import base64
import random
import re
import string
from uuid import UUID

import pytest
from eth_account.hdaccount import generate_mnemonic
from eth_account.types import Language
from hypothesis import given
from hypothesis import strategies as st

from memory_app.actions.update_directive import update_directive
from permits_app.actions.request_cancel import request_cancel
from tests.live_golem import LiveGolem
from tools_app.core import clock, secret_patterns
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.core.taint import REMOVED, DataSink, holds_no_secret, redact_text

CHANCE = random.Random(39)
WORD = string.ascii_letters + string.digits
URL_SAFE = WORD + "_-"


def some(letters: str, count: int) -> str:
    return "".join(CHANCE.choice(letters) for _ in range(count))


def token() -> str:
    head, body = (base64.urlsafe_b64encode(some(WORD, 24).encode()).decode() for _ in range(2))
    return f"eyJ{head}.eyJ{body}.{some(URL_SAFE, 43)}"


def pem() -> str:
    body = "\n".join(some(WORD + "+/", 64) for _ in range(6))
    return f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"


KINDS = {
    "openai": lambda: "sk-proj-" + some(URL_SAFE, 40) + "7",
    "anthropic": lambda: "sk-ant-api03-" + some(URL_SAFE, 90),
    "openrouter": lambda: "sk-or-v1-" + some("0123456789abcdef", 64),
    "hugging face": lambda: "hf_" + some(WORD, 34),
    "stripe": lambda: CHANCE.choice(["sk_live_", "rk_live_", "sk_test_"]) + some(WORD, 24),
    "webhook": lambda: "whsec_" + some(WORD, 32),
    "amazon": lambda: CHANCE.choice(["AKIA", "ASIA"]) + some(string.ascii_uppercase + string.digits, 16),
    "google": lambda: "AIza" + some(URL_SAFE, 35),
    "google access": lambda: "ya29." + some(URL_SAFE, 60),
    "digital ocean": lambda: "dop_v1_" + some("0123456789abcdef", 64),
    "shop": lambda: "shpat_" + some("0123456789abcdef", 32),
    "mail": lambda: f"SG.{some(URL_SAFE, 22)}.{some(URL_SAFE, 43)}",
    "github": lambda: CHANCE.choice(["ghp_", "gho_", "ghs_", "ghu_", "ghr_"]) + some(WORD, 36),
    "github fine": lambda: "github_pat_" + some(WORD, 22) + "_" + some(WORD, 59),
    "gitlab": lambda: "glpat-" + some(URL_SAFE, 20),
    "npm": lambda: "npm_" + some(WORD, 36),
    "pypi": lambda: "pypi-AgEIcHlwaS5vcmc" + some(URL_SAFE, 60),
    "slack": lambda: f"xoxb-{some(string.digits, 12)}-{some(string.digits, 12)}-{some(WORD, 24)}",
    "telegram": lambda: some("123456789", 10) + ":AA" + some(URL_SAFE, 33),
    "token": token,
    "pem": pem,
    "age": lambda: "AGE-SECRET-KEY-1" + some(string.ascii_uppercase + string.digits, 58),
    "wallet words": lambda: generate_mnemonic(12, Language.ENGLISH),
    "more wallet words": lambda: generate_mnemonic(24, Language.ENGLISH),
    "labelled": lambda: f"api_key: {some(WORD, 24)}",
}
SENTENCES = ("{}", "I use {} for the API.", "set it to '{}', then go on", "note: {}\nand buy", '{{"why": "{}"}}')
SECRETS = [(kind, SENTENCES[number % len(SENTENCES)], make()) for number in range(8) for kind, make in KINDS.items()]
ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
HARMLESS = [
    *(f"0x{some('0123456789abcdef', 64)} is the hash of a transaction" for _ in range(30)),
    *(f"send 5 USDC to {ADDRESS[:30]}{some('0123456789abcdefABCDEF', 12)}" for _ in range(30)),
    *(str(UUID(int=CHANCE.getrandbits(128))) for _ in range(20)),
    *(f"pool 0x{some('0123456789abcdef', 40)} token: 0x{some('0123456789abcdef', 40)}" for _ in range(20)),
    *(base64.b64encode(some(WORD, 40).encode()).decode() for _ in range(20)),
    *(f"{number}.{number}% risk-adjusted return, task-force of pool-{number}" for number in range(20)),
    *(
        "The price of WETH moved by four percent since yesterday and the pool has less depth than it had before, so I"
        f" wait until block {number} and look again at what the feeds say about it"
        for number in range(20)
    ),
    *("key figures, monkey business, the secret of success is to wait", "sk-learn and sk-image are libraries"),
    *("scikit-learn-extra", "msg. to all", "Asia trades at night", "npm install", "eyJ is how tokens begin", "xoxo"),
    *(f"https://example.org/docs/page-{number}#part" for number in range(15)),
    *("api_key is a parameter", "secret: none", "a key, a lock, a door", "gh_actions runs at noon", "hf_ is a prefix"),
    *(f"swap {number} USDC for WETH at a slippage of {number} bps through uniswap_api" for number in range(12)),
]


def test_there_are_two_hundred_of_each() -> None:
    assert len(SECRETS) == 200 and len(HARMLESS) >= 200


@pytest.mark.parametrize("sink", [DataSink.MODEL, DataSink.AUDIT, DataSink.EVENTS, DataSink.MEMORY])
def test_of_two_hundred_secrets_one_at_most_passes(sink: DataSink) -> None:
    missed = [kind for kind, sentence, secret in SECRETS if secret in redact_text(sentence.format(secret), sink=sink)]
    assert len(missed) <= 1, missed
    seen = [kind for kind, sentence, secret in SECRETS if holds_no_secret(sentence.format(secret))]
    assert len(seen) <= 1, seen


def test_of_two_hundred_harmless_texts_two_at_most_are_changed() -> None:
    changed = [text for text in HARMLESS if redact_text(text, sink=DataSink.AUDIT) != text]
    assert len(changed) <= 2, changed


@pytest.mark.parametrize(("count", "is_removed"), [(11, False), (12, True), (13, True)])
def test_twelve_words_of_a_wallet_are_a_secret_and_eleven_are_none(count: int, is_removed: bool) -> None:
    words = " ".join(
        ("legal", "winner", "thank", "year", "wave", "sausage", "worth", "useful")[each % 8] for each in range(count)
    )
    assert (redact_text(f"It said: {words}. So be it.") != f"It said: {words}. So be it.") is is_removed


@pytest.mark.parametrize(("different", "is_removed"), [(7, False), (8, True)])
def test_twelve_words_of_which_eight_differ_are_a_secret_and_of_seven_none(different: int, is_removed: bool) -> None:
    words = ("legal", "winner", "thank", "year", "wave", "sausage", "worth", "useful")
    said = "It said: " + " ".join(words[each % different] for each in range(12)) + "."
    assert (redact_text(said) != said) is is_removed


def test_a_word_of_the_list_said_again_and_again_is_no_wallet() -> None:
    assert redact_text("swap " * 1_000) == "swap " * 1_000


def test_what_stands_around_a_secret_stays() -> None:
    key = KINDS["anthropic"]()
    assert redact_text(f"I use {key} for the API.") == f"I use {REMOVED} for the API."


@pytest.mark.parametrize("form", secret_patterns.FORMS, ids=lambda form: form.pattern[:24])
@given(data=st.data())
def test_what_a_form_finds_has_a_mark(form: re.Pattern[str], data: st.DataObject) -> None:
    found = data.draw(st.from_regex(form))
    assert any(mark in found.lower() for mark in secret_patterns.MARKS)


def test_a_key_in_an_agents_reason_reaches_neither_audit_log_nor_events_nor_playbook(live_golem: LiveGolem) -> None:
    key = KINDS["anthropic"]()
    permit = live_golem.preview()
    request_cancel(
        golem=live_golem.golem,
        permit_id=UUID(permit["permit_id"]),
        reason=f"because {key} says so",
        actor="key:1",
        now=clock.now(),
    )
    update_directive(
        golem_id=live_golem.golem.pk,
        section="Keys",
        change=f"call it with {key}",
        reason=f"it is {key}",
        actor="key:1",
        now=clock.now(),
    )
    told = [str(row.data) for row in AuditEntry.objects.filter(golem_id=live_golem.golem.pk)]
    told += [str(row.payload) for row in OutboxEvent.objects.all()]
    told += [row.text + row.diff + row.reason for row in live_golem.golem.directives.all()]
    assert told and not any(key in each for each in told)
