"""Texts from outside at the edge of what may be read: nothing ends the process, and what is read can be kept."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.archetype_toml import parse_archetype
from archetypes_app.errors import InvalidToml
from memory_app.json_text import parse_object
from permits_app.custody.signers import bundler, privy
from permits_app.custody.signers.keystore import Keystore
from tools_app.core.bounded_parsing import DEEPEST, Bound, OutsideTextRefused, read_exact_json, read_json, read_toml
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.guarded_http import Answer
from tools_app.core.recursion_limit import DEEP, deep_calls
from tools_app.core.storable_text import make_storable
from tools_app.core.taint import Secret

DEEP_TEXTS = ["[" * 200_000, "[" * 200_000 + "]" * 200_000, '{"a":' * 100_000, '[{"a":' * 50_000]


@pytest.mark.parametrize("text", DEEP_TEXTS)
def test_brackets_without_end_are_refused_by_their_depth(text: str) -> None:
    for read in (read_json, read_exact_json):
        with pytest.raises(OutsideTextRefused) as refused:
            read(text.encode(), most_bytes=10**7)
        assert refused.value.bound is Bound.DEPTH


def test_the_last_level_is_read_and_the_next_is_not() -> None:
    read_exact_json("[" * DEEPEST + "]" * DEEPEST, most_bytes=1_000)
    read_exact_json('["' + "[" * 500 + '"]', most_bytes=1_000)
    with pytest.raises(OutsideTextRefused):
        read_exact_json("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), most_bytes=1_000)


def test_size_is_counted_in_bytes_before_anything_is_read() -> None:
    assert read_json('"é"', most_bytes=4) == "é"
    for read in (read_json, read_exact_json, read_toml):
        with pytest.raises(OutsideTextRefused) as refused:
            read('"éé"', most_bytes=5)
        assert refused.value.bound is Bound.SIZE


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e999", "[1e999]", "", "{", "01", "1" * 100_000, '"\t"']
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(OutsideTextRefused):
        read_json(text, most_bytes=10**6)


def test_half_a_character_and_a_zero_are_replaced_and_whole_ones_kept() -> None:
    text = '{"a\\ud800": ["\\udc00", "\\u0000", "\\ud83d\\ude00", "\\\\ud800"], "n": ' + str(2**256 - 1) + "}"
    assert read_json(text, most_bytes=1_000) == {
        "a\ufffd": ["\ufffd", "\ufffd", "\U0001f600", "\\ud800"],
        "n": 2**256 - 1,
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_what_json_carries_comes_through(value: Any) -> None:
    assert read_json(json.dumps(value), most_bytes=10**6) == make_storable(value)


@given(st.text(alphabet='[]{}",:\\ud8009e1 \n', max_size=200))
def test_any_text_is_a_value_or_refused(text: str) -> None:
    for read in (read_json, read_exact_json, read_toml):
        try:
            value = read(text, most_bytes=10_000)
        except OutsideTextRefused as refusal:
            # Nothing here is long, and what is refused for its depth is deep.
            deep = refusal.bound is Bound.DEPTH and text.count("[") + text.count("{") > DEEPEST
            assert refusal.bound is Bound.SYNTAX or deep
        else:
            assert read(text, most_bytes=10_000) == value
            assert read is not read_json or make_storable(value) == value


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 60_000, "a = " + "{b = " * 12_000, 'a = """' + "[" * 90 + '"""\nb = ' + "[" * 900]
)
def test_toml_is_refused_by_its_depth_too(text: str) -> None:
    with pytest.raises(OutsideTextRefused) as refused:
        read_toml(text, most_bytes=10**6)
    assert refused.value.bound is Bound.DEPTH
    with pytest.raises(InvalidToml, match="deep"):
        parse_archetype(text.encode(), source="x.toml", categories=["trading"])


@pytest.mark.parametrize("text", [*DEEP_TEXTS, '{"a": NaN}', "\x00"])
def test_a_signer_elsewhere_and_a_bundler_are_refused_and_not_believed(text: str) -> None:
    answer = Answer(status=200, retry_after_seconds=None, duration_ms=1, body=text.encode())
    for read in (bundler._read, privy._read):
        with pytest.raises(GolemError) as refused:
            read(answer)
        assert refused.value.code in ("SIGNER_UNAVAILABLE", "SIGNER_MISMATCH")


def test_documents_of_people_are_refused_the_same_way(tmp_path: Any) -> None:
    with pytest.raises(InvalidParams, match="deep"):
        parse_object("[" * 7_000, field="parameters")
    with pytest.raises(InvalidParams):
        keystore = Keystore(folder=tmp_path, passphrase=Secret("a passphrase of ours"), scrypt_n=2)
        keystore.import_file(document="[" * 15_000, passphrase=Secret("long enough"))


def test_the_limit_of_recursion_is_put_back_whoever_imports_what_raises_it() -> None:
    script = (
        "import sys; before = sys.getrecursionlimit(); import tools_app, eth_account, py_ecc.bls;"
        "import tools_app.simulation.pyevm.engine; assert sys.getrecursionlimit() == before, sys.getrecursionlimit()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_contracts_may_call_deep_while_any_thread_runs_one_and_no_longer() -> None:
    before, inside, leave = sys.getrecursionlimit(), threading.Event(), threading.Event()

    def run() -> None:
        with deep_calls():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=run)
    with deep_calls():
        thread.start()
        assert inside.wait(60)
    assert sys.getrecursionlimit() == max(before, DEEP)
    leave.set()
    thread.join(60)
    assert sys.getrecursionlimit() == before
