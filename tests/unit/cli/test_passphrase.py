"""Passphrases: from a file, the environment or a person, in that order, and only when keys are closed."""

from pathlib import Path

import click
import pytest

from lacre.cli import passphrase, screen
from lacre.errors import (
    InterruptedBefore,
    NotReadable,
    PassphraseNotAsked,
    PassphrasesDiffer,
    PassphraseUnreadable,
)

from .conftest import Lacre


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make a terminal of whoever asks; what it is answered is taken from the front."""
    answers: list[str] = []
    monkeypatch.setattr(screen, "can_ask", lambda: True)
    monkeypatch.setattr(click, "prompt", lambda *_arguments, **_options: answers.pop(0))
    return answers


@pytest.mark.parametrize(
    ("written", "read"),
    [("secret\n", "secret"), ("secret", "secret"), ("sécret\r\n", "sécret"), (" a b ", " a b ")],
)
def test_a_file_holds_it_on_one_line(tmp_path: Path, written: str, read: str) -> None:
    file = tmp_path / "phrase"
    file.write_bytes(written.encode())
    assert passphrase.asking(file)() == read


@pytest.mark.parametrize("written", [b"two\nlines\n", b"\xff\xfe", b"x" * (1 << 20)])
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, written: bytes) -> None:
    file = tmp_path / "phrase"
    file.write_bytes(written)
    with pytest.raises(PassphraseUnreadable):
        passphrase.asking(file)()
    with pytest.raises(NotReadable):
        passphrase.asking(tmp_path / "absent")()


def test_a_file_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "phrase").write_text("file")
    monkeypatch.setenv("LACRE_PASSPHRASE", "environment")
    assert passphrase.asking(tmp_path / "phrase")() == "file"
    assert passphrase.asking(None)() == "environment"


def test_a_person_is_asked_last(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked.append("typed")
    assert passphrase.asking(None)() == "typed"
    monkeypatch.setenv("LACRE_PASSPHRASE", "environment")
    assert passphrase.asking(None)() == "environment"


def test_without_a_terminal_the_option_is_named() -> None:
    with pytest.raises(PassphraseNotAsked) as refused:
        passphrase.asking(None)()
    assert "--passphrase-file" in refused.value.way_out


def test_new_keys_are_closed_by_what_is_typed_twice(asked: list[str]) -> None:
    asked.extend(["one", "one"])
    assert passphrase.chosen(None) == "one"
    asked.extend(["one", "other"])
    with pytest.raises(PassphrasesDiffer):
        passphrase.chosen(None)


def test_empty_means_none(asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked.append("")
    assert passphrase.chosen(None) is None
    (tmp_path / "phrase").write_text("\n")
    assert passphrase.chosen(tmp_path / "phrase") is None
    monkeypatch.setenv("LACRE_PASSPHRASE", "")
    assert passphrase.chosen(None) is None


def test_new_keys_stay_open_where_nobody_sits() -> None:
    assert passphrase.chosen(None) is None


def test_closed_keys_are_opened_for_a_verb_that_signs(lacre: Lacre, tmp_path: Path) -> None:
    from .conftest import PROTOCOL

    (tmp_path / "phrase").write_text("secret\n")
    (tmp_path / "wrong").write_text("guess\n")
    (tmp_path / "protocol.yaml").write_text(PROTOCOL, encoding="utf-8")
    assert lacre("init", "--passphrase-file", "phrase", "--json").document["passphrase"] is True
    assert lacre("status").status == 0
    refused = lacre("register", "protocol.yaml", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "passphrase-not-asked")
    wrong = lacre("register", "protocol.yaml", "--passphrase-file", "wrong", "--json")
    assert (wrong.status, wrong.document["error"]["code"]) == (2, "passphrase-wrong")
    assert list(tmp_path.glob("*.receipt")) == []
    done = lacre("register", "protocol.yaml", "--passphrase-file", "phrase", "--json")
    assert (done.status, done.document["entry"]) == (0, 1)


def test_an_identity_file_is_tried_with_what_is_given_and_then_asked_for(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked.append("typed")
    (tmp_path / "phrase").write_text("file\n")
    tries = passphrase.trying(tmp_path / "phrase")(tmp_path / "identity.age")
    assert next(tries) == "file"
    assert asked == ["typed"], "nobody is asked before it is needed"
    assert list(tries) == ["typed"]
    monkeypatch.setattr(screen, "can_ask", lambda: False)
    assert list(passphrase.trying(tmp_path / "phrase")(tmp_path / "identity.age")) == ["file"]
    with pytest.raises(PassphraseNotAsked):
        list(passphrase.trying(None)(tmp_path / "identity.age"))


def test_who_ends_it_at_the_first_question_is_told_that_nothing_was_done(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_words: object, **_more: object) -> str:
        raise click.Abort

    monkeypatch.setattr("click.prompt", end)
    with pytest.raises(InterruptedBefore) as ended:
        passphrase.chosen(None)
    assert ended.value.exit_status == 130
    assert "stands" not in ended.value.way_out
