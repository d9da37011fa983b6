"""What `result.json` must say of a bundle's result: derived again from its entries and documents."""

from collections.abc import Mapping
from typing import Any

from lacre.audit.register import document_path
from lacre.audit.report import AuditReport
from lacre.broker.beside import derive_shown
from lacre.canonical import parse_canonical
from lacre.errors import NotCanonical
from lacre.publish.manifest import Manifest
from lacre.rules.record import Result
from lacre.rules.remarks import Text
from lacre.store.reader import SALT_SIZE


def expected_shown(files: Mapping[str, bytes], manifest: Manifest, report: AuditReport) -> dict[str, Any]:
    """Return the names that the entries and documents give, with their values.

    Nothing where the audit found something wrong, or where a result lacks what it is shown by: then nobody
    can say what it should read.
    """
    from lacre.report import json as documents

    study = None if report.ledger is None else report.ledger.studies.get(manifest.study)
    if not report.ok or report.ledger is None or study is None or report.story is None:
        return {}
    digests = {each.index: each.content.result for each in report.history if isinstance(each.content, Result)}
    erased = {each.digest: each.entry for each in report.erased}

    def document_at(entry: int) -> dict[str, Any]:
        document: dict[str, Any] = parse_canonical(files[document_path(digests[entry])])
        return document

    def said(digest: str) -> Text:
        data = files.get(document_path(digest))
        if data is None or digest in erased:
            return Text(digest, None, erased.get(digest))
        return Text(digest, data[SALT_SIZE:].decode("utf-8", "replace"))

    try:
        shown = derive_shown(study, manifest.result, report.ledger.recipient, document_at, said)
        return documents.result(shown)
    except (KeyError, TypeError, AttributeError, NotCanonical):
        return {}
