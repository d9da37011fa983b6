"""The golden ledger, made once by `tests/vectors/golden-ledger/make.py`: whatever lacre becomes, it audits clean."""

import shutil
from pathlib import Path

from lacre import api
from lacre.report.views import Result

GOLDEN = Path(__file__).resolve().parents[2] / "vectors" / "golden-ledger"


def test_the_golden_ledger_audits_clean(tmp_path: Path) -> None:
    """Registered, two pools sealed, a rehearsal, inputs, the reveal, and a second look that made teste dev."""
    shutil.copytree(GOLDEN / "ledger", tmp_path / ".lacre")
    report = api.audit(tmp_path)
    assert [finding.message for finding in report.findings] == []
    assert report.root == (GOLDEN / "root.txt").read_text().strip()
    assert [each.kind for each in report.history] == [
        *("genesis", "register", "seal", "read", "result", "seal"),
        *("read", "read", "result", "read", "result"),
    ]
    story = api.audit(tmp_path, "golden@8").story
    assert story is not None
    assert (story.result.confirmatory, story.now) == (True, "dev")
    with api.open(tmp_path) as ledger:
        for name, standing in (("golden@8", "teste"), ("golden@10", "dev")):
            shown = ledger.show(name)
            assert isinstance(shown, Result)
            assert shown.document["standing"] == standing
