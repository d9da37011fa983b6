"""No cell of a sealed pool is in what any verb says when all goes well: by the command line, in JSON, and by Python."""

import csv
import dataclasses
import io
import pickle
from pathlib import Path
from typing import Any

import pytest
from tests.secrets.canaries import sings
from tests.secrets.conftest import PROTOCOL, Stages, write_files
from tests.secrets.story import lines

import lacre
from lacre.broker.files import Given
from lacre.broker.ingest import load, read_pool_tables
from lacre.cli.verbs import GROUPS, VERBS
from lacre.protocol.document import parse

Shell = Any


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_no_cell_is_in_what_a_verb_says(shell: Shell, options: list[str]) -> None:
    """`Shell.lacre` looks at what is written, and `tests/conftest.py` at what is left in files."""
    write_files(shell.folder)
    called, named = set(), {"custodian": ""}
    for words, status in lines():
        ran = shell.lacre(*(word.format(**named) for word in words), *options)
        assert ran.status == status, (words, ran.out, ran.err)
        if words[:3] == ["key", "new", "custodian.txt"]:
            (named["custodian"],) = [
                word.strip('",') for word in ran.out.split() if word.strip('"').startswith("age1")
            ][:1]
        called.add(" ".join(words[:2]) if words[0] in GROUPS else words[0])
    every = (VERBS.keys() - GROUPS.keys()) | {
        f"{group} {verb}" for group, table in GROUPS.items() for verb in table
    }
    assert called == every - {"key revoke"}, "a verb has no line in the story"
    handed = list(csv.reader(io.StringIO((shell.folder / "to-predict.csv").read_text())))
    assert handed[0] == ["case_id", "code"], "the key, and what is marked as an input"
    assert not sings((shell.folder / "to-predict.csv").read_text())


def test_no_cell_is_in_what_python_shows(stages: Stages, tmp_path: Path) -> None:
    shell = stages.copy("sealed", tmp_path)
    work = shell.folder
    state = Path(shell.environment["XDG_STATE_HOME"]) / "lacre"
    with lacre.open(work, state=state) as ledger:
        shown: list[object] = [
            ledger,
            lacre.check(work / "protocol.yaml", [str(work / "dev.csv")]),
            ledger.seal("secret", "contraste", work / "contraste.json"),
            ledger.inputs("secret", "teste", work / "handed.csv"),
            ledger.reveal("secret", work / "teste-predictions.csv", dry_run=True),
            ledger.reveal("secret", work / "teste-predictions.csv"),
            ledger.erratum("secret@7", work / "corrected.csv", reason="swapped"),
            ledger.status(),
            ledger.log(),
            ledger.audit(),
            *map(ledger.show, ("secret", "secret@7", "@2", "@4", "@7")),
        ]
    for each in shown:
        html = getattr(each, "_repr_html_", str)
        for text in (repr(each), str(each), html() if html is not str else ""):
            assert not sings(text), type(each)
        if dataclasses.is_dataclass(each) and not isinstance(each, lacre.Ledger):
            assert not sings(pickle.dumps(each)), type(each)


@pytest.mark.parametrize("name", ["dev.csv", "contraste.json"])
def test_what_holds_cells_does_not_show_them(tmp_path: Path, name: str) -> None:
    """In a debugger, or a traceback with the values of its variables, stand the `repr`s of what holds them."""
    write_files(tmp_path)
    raws = load([Given("", "cases", tmp_path / name)])
    tables = read_pool_tables(parse(PROTOCOL.encode()), raws, lambda *_: None)
    held = [tables, raws, tables["cases"].typed, *tables["cases"].typed.columns.values()]
    for each in held:
        assert not sings(repr(each))
        assert not sings(str(each))
    assert any(sings(raw.content.read()) for raw in raws)
    assert raws[0].content.sha256 not in repr(raws), "the digest of what could be guessed"
