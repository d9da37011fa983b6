"""What `amplify` made."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lacre.images.manifest import Made, Skipped
from lacre.protocol.pools import Variant


@dataclass(frozen=True, slots=True)
class Amplified:
    """The variants that stand in `folder` now, what gave none and why, and what they were made with.

    `kept` of the files were there already; `left_over` are files of an earlier run that no image stands behind now.
    """

    study: str
    protocol_hash: str
    folder: Path
    variants: Mapping[str, Variant]
    made: tuple[Made, ...]
    skipped: tuple[Skipped, ...]
    kept: int
    left_over: tuple[str, ...]
    engine: Mapping[str, str]
