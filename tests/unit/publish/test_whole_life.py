"""Changes, keys and erasures, published: a register that was there is extended, and bundles hold."""

from __future__ import annotations

from pathlib import Path

from tests.unit.publish.conftest import PROTOCOL, audited, codes, held, live, warnings

import lacre
from lacre import api
from lacre.publish.archive import unpack


def test_a_whole_life_goes_out(tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    with lacre.init(tmp_path, name="Ana", origin="example.org/log", state=tmp_path / "state") as ledger:
        ledger.export_registry(registry)
        result = live(ledger, tmp_path, "one", reason="a reason of one")
        live(ledger, tmp_path, "two", reason="a reason of two")
        ledger.export_registry(registry)
        assert any(b"a reason of one" in data for data in held(registry).values())
        old_key = ledger.status().verifier_key
        ledger.rotate("log")
        ledger.rotate("broker")
        ledger.deviate("one", "words about one")
        changed = PROTOCOL.format(study="one").replace("Loan screen", "Loan screen, again").encode()
        ledger.amend(changed, reason="the title was too short", accept_burn=True)
        for study in ("one", "two"):
            entry = next(
                each.index
                for each in ledger.log(study).entries
                if getattr(getattr(each.content, "request", None), "reason", None) and each.kind == "read"
            )
            ledger.erase(f"@{entry}")
        written = ledger.export_registry(registry)
        assert written.removed == 2
        files = held(registry)
        assert not any(b"a reason of" in data for data in files.values())
        assert any(b"words about one" in data for data in files.values())
        assert len([path for path in files if path.startswith("one/protocol@")]) == 2
        report = api.audit(registry=registry)
        assert report.ok, codes(report)
        own = ledger.audit()
        assert own.ok
        assert (report.entries, report.root) == (own.entries, own.root)
        ledger.export(result, tmp_path / "r.zip")
        exported = ledger.export(result, tmp_path / "only.zip", only_study=True)
        # Both log keys sign while one replaces the other: either shows whose log it is.
        keys = {old_key, exported.verifier_key}
        assert len(keys) == 2
        for key in keys:
            assert api.audit(registry=registry, key=key).ok
    for name in ("r.zip", "only.zip"):
        for key in keys:
            verified = lacre.verify(tmp_path / name, key=key, memory=[registry])
            assert verified.ok, codes(verified.audit)
            assert warnings(verified.audit) <= {"entries-redacted", "clock-backwards"}
        whole = unpack((tmp_path / name).read_bytes())
        assert any(b"words about one" in data for data in whole.values())
        assert any(path.startswith("one/protocol@") for path in whole)
    without = {path: data for path, data in files.items() if not path.startswith("one/protocol@")}
    assert codes(audited(without)) == {"file-missing"}
