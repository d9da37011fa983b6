"""The story behind the demo: it goes as it is told, or it is a fault of lacre's own."""

from pathlib import Path

import pytest

from lacre.demo import story
from lacre.demo.cases import cases_csv
from lacre.errors import FolderTaken, InternalError, LacreError


def test_it_works_in_a_folder_that_is_gone_afterwards() -> None:
    with story.workshop(None) as folder:
        assert folder.is_dir()
        steps = list(story.tell(folder))
        assert (folder / ".lacre").is_dir()
    assert not folder.exists()
    assert [step.refusal.code for step in steps if step.refusal] == [
        *("pool-not-sealed", "protocol-not-in-force", "teste-already-read"),
    ]


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(FolderTaken), story.workshop(tmp_path):
        pass
    with story.workshop(tmp_path / "new") as folder:
        assert folder == tmp_path / "new"
    assert folder.is_dir()


def test_the_machine_s_own_memory_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with story.workshop(None) as folder:
        for _step in story.tell(folder):
            pass
    assert not (tmp_path / "state").exists()


def test_a_registry_without_the_bar_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(story, "BAR", b"no such line")
    with pytest.raises(InternalError):
        next(story.tell(tmp_path))


def test_a_verdict_that_is_not_the_published_one_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Had the score been right about everybody, it would pass."""
    right = b"case_id,score_text\n"
    labels = cases_csv().decode().splitlines()[1:]
    for row in labels:
        case, _race, outcome = row.split(",")
        right += f"{case},{'High' if outcome == '1' else 'Low'}\n".encode()
    monkeypatch.setattr(story, "submission_csv", lambda: right)
    with pytest.raises(InternalError):
        list(story.tell(tmp_path))


def test_tampering_that_is_not_found_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(story, "_change_one_byte", lambda *_: None)
    with pytest.raises(InternalError):
        list(story.tell(tmp_path))


def test_a_refusal_that_does_not_come_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(story, "MOVED_BAR", story.BAR.replace(b"0.05", b"0.050"))
    with pytest.raises(InternalError):
        list(story.tell(tmp_path))


def test_another_refusal_than_the_story_s_passes_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(story, "SCORES", "absent.csv")
    monkeypatch.setattr(story, "write_durably", lambda *_arguments, **_named: None)
    with pytest.raises(LacreError) as refused:
        list(story.tell(tmp_path))
    assert not isinstance(refused.value, InternalError)
