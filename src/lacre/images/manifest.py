"""What was made of which image, as records, as CSV and as JSON."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lacre.errors import printable
from lacre.protocol.pools import Variant
from lacre.tables.formulas import FORMULA
from lacre.text import N_

CSV_NAME, JSON_NAME = "manifest.csv", "manifest.json"
COLUMNS = (
    *("id", "source", "source_sha256", "variant", "file", "sha256", "width", "height"),
    *("notes", "skipped", "made_with"),
)

WHY: Mapping[str, str] = MappingProxyType(
    {
        "hidden": N_("hidden"),
        "link": N_("a link; name the file or folder itself to have it taken"),
        "not-a-file": N_("no regular file"),
        "unreadable": N_("cannot be read"),
        "empty": N_("empty"),
        "not-an-image": N_("no image in a format that is read"),
        "broken": N_("broken, or cut off"),
        "too-large": N_("too large"),
        "unsupported": N_("of a depth or colour space without a picture in 8-bit RGB"),
    }
)
"""Why a file gave no variant, by the code that stands in the manifest."""


@dataclass(frozen=True, slots=True)
class Made:
    """A variant of a source, in `file` below the folder; sides in pixels, digests SHA-256 in hexadecimal.

    `id` is the source's, in letters, digits, `.`, `_` and `-`; `notes` are those of `lacre.images.picture`.
    """

    id: str
    source: str
    source_sha256: str
    variant: str
    file: str
    sha256: str
    width: int
    height: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source of which nothing was made, or not the one `variant`; `code` says why.

    `hidden`, `link`, `not-a-file`, `unreadable`: it was not opened, and has no digest; `empty`, `not-an-image`,
    `broken`, `too-large`, `unsupported`: it was, or the variant would be.
    """

    source: str
    code: str
    source_sha256: str | None = None
    variant: str | None = None


def change_of(variant: Variant) -> dict[str, Any]:
    """Return what a variant changes, by name, as the protocol has it."""
    return variant.model_dump(mode="json", exclude_none=True)


def document(
    study: str,
    protocol_hash: str,
    variants: Mapping[str, Variant],
    engine: Mapping[str, str],
    made: Sequence[Made],
    skipped: Sequence[Skipped],
) -> dict[str, Any]:
    """Return the manifest as JSON values; the same of the same images, however often a run was begun again."""
    return {
        "study": study,
        "protocol": f"sha256:{protocol_hash}",
        "variants": {name: change_of(variant) for name, variant in variants.items()},
        "engine": dict(engine),
        "made": [
            {
                "id": each.id,
                "source": each.source,
                "source_sha256": each.source_sha256,
                "variant": each.variant,
                "file": each.file,
                "sha256": each.sha256,
                "width": each.width,
                "height": each.height,
                "notes": list(each.notes),
            }
            for each in made
        ],
        "skipped": [
            {
                "source": each.source,
                "source_sha256": each.source_sha256,
                "variant": each.variant,
                "code": each.code,
            }
            for each in skipped
        ],
    }


def json_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Return a document as the bytes of a file."""
    return (json.dumps(manifest, ensure_ascii=False, indent=2) + "\n").encode()


def csv_bytes(engine: Mapping[str, str], made: Sequence[Made], skipped: Sequence[Skipped]) -> bytes:
    """Return the manifest as CSV (RFC 4180), one row per source and variant, then those that were skipped.

    Control characters in a source's name stand as their escapes, line breaks too; one that a spreadsheet would
    compute begins with an apostrophe. The JSON has names as they are.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    with_ = "; ".join(f"{name} {version}" for name, version in engine.items())
    for each in made:
        source = (each.id, _safe(each.source), each.source_sha256)
        file = (each.variant, each.file, each.sha256, each.width, each.height)
        writer.writerow([*source, *file, " ".join(each.notes), "", with_])
    for left in skipped:
        known = ("", _safe(left.source), left.source_sha256 or "", left.variant or "")
        writer.writerow([*known, *[""] * 5, left.code, with_])
    return buffer.getvalue().encode()


def _safe(name: str) -> str:
    text = printable(name)
    return f"'{text}" if FORMULA.match(text) else text
