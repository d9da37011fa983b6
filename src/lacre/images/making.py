"""Make the variants of images as files: `VARIANT/ID.png` or `.jpg` below a folder, and a manifest beside them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lacre.durable import make_folder, read_given, require_regular, sha256_of, staged, write_durably
from lacre.errors import ImagesNone, ImagesUnusable, NotReadable, printable
from lacre.images import journal, manifest
from lacre.images.journal import FORM, Journal
from lacre.images.limits import MOST_BYTES, MOST_JPEG, MOST_PIXELS
from lacre.images.manifest import Made, Skipped
from lacre.images.picture import Picture, Unusable, picture_of
from lacre.images.pillow import engine
from lacre.images.sources import Source, distinct_names, find_sources, shown
from lacre.images.variants import extension, scaled_size, varied, write_picture
from lacre.protocol.pools import Variant
from lacre.text import N_, _

Progress = Callable[[str, int, int | None], None]
_MOST_TOLD = 10


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be made: a study's declared variants, by name, under the protocol of this hash."""

    study: str
    protocol_hash: str
    variants: Mapping[str, Variant]
    folder: Path


@dataclass(frozen=True, slots=True)
class Done:
    """What stands in the folder now: `kept` of the files were there already, `left_over` are no part of it now."""

    made: tuple[Made, ...]
    skipped: tuple[Skipped, ...]
    kept: int
    left_over: tuple[str, ...]
    engine: Mapping[str, str]


def make_variants(job: Job, images: Sequence[Path], progress: Progress) -> Done:
    """Make the variants of all `images` (files, and folders of them) that are not there yet, and the manifest.

    One image is in memory at a time. Raises what `find_sources` and `lacre.images.journal.opened` do, `ImagesNone`,
    `ImagesUnusable` when nothing could be made, `DiskFull` and `NotWritten`; what was made until then is kept, and a
    further call goes on with it.
    """
    sources = find_sources(images, job.folder)
    if not any(not source.skipped for source in sources):
        raise ImagesNone(images=", ".join(map(str, images)))
    with_ = engine()
    header = {
        "form": FORM,
        "study": job.study,
        "variants": {name: manifest.change_of(variant) for name, variant in job.variants.items()},
        "engine": with_,
    }
    with journal.opened(job.folder, header) as record:
        maker = _Maker(job, record)
        ids = distinct_names([source.name for source in sources if not source.skipped])
        for place, source in enumerate(sources):
            progress(N_("making variants"), place, len(sources))
            maker.take(source, ids.get(source.name, ""))
        progress(N_("making variants"), len(sources), len(sources))
        done = maker.done(with_)
        if not done.made:
            raise _unusable(done.skipped)
        _write_manifest(job, done)
    return done


def _unusable(skipped: Sequence[Skipped]) -> ImagesUnusable:
    told = [f"{printable(each.source)}: {_(manifest.WHY[each.code])}" for each in skipped]
    more = ["…"] if len(told) > _MOST_TOLD else []
    return ImagesUnusable(count=len(told), skipped="\n".join([*told[:_MOST_TOLD], *more]))


def _write_manifest(job: Job, done: Done) -> None:
    as_json = manifest.document(
        job.study, job.protocol_hash, job.variants, done.engine, done.made, done.skipped
    )
    write_durably(job.folder / manifest.JSON_NAME, manifest.json_bytes(as_json))
    write_durably(job.folder / manifest.CSV_NAME, manifest.csv_bytes(done.engine, done.made, done.skipped))


class _Maker:
    """Takes one source after the other, and knows what became of them."""

    def __init__(self, job: Job, record: Journal) -> None:
        self._job = job
        self._record = record
        self._made: list[Made] = []
        self._skipped: list[Skipped] = []
        self._kept = 0
        taken = (journal.NAME, manifest.CSV_NAME, manifest.JSON_NAME)
        self._folders = distinct_names(job.variants, taken)

    def done(self, with_: Mapping[str, str]) -> Done:
        """Return what became of all that were taken."""
        files = {made.file for made in self._made}
        left = sorted(
            made.file
            for made in self._record.known.values()
            if made.file not in files and (self._job.folder / made.file).is_file()
        )
        return Done(tuple(self._made), tuple(self._skipped), self._kept, tuple(left), with_)

    def take(self, source: Source, known_as: str) -> None:
        """Make the variants of one source that are not there yet."""
        name = shown(source.name)
        if source.skipped:
            self._skipped.append(Skipped(name, source.skipped))
            return
        try:
            require_regular(source.path)
            raw = read_given(source.path, most=MOST_BYTES)
        except NotReadable:
            self._skipped.append(Skipped(name, "unreadable"))
            return
        if len(raw) > MOST_BYTES:
            self._skipped.append(Skipped(name, "too-large"))
            return
        digest = hashlib.sha256(raw).hexdigest()
        wanted = {
            variant: Made(known_as, name, digest, variant, self._file(known_as, variant), "", 0, 0)
            for variant in self._job.variants
        }
        there = {variant: self._standing(blank) for variant, blank in wanted.items()}
        self._kept += sum(made is not None for made in there.values())
        if not all(there.values()):
            try:
                picture = picture_of(raw, source.path.name)
            except Unusable as error:
                self._skipped.append(Skipped(name, error.code, digest))
                return
            del raw
            for variant, made in there.items():
                there[variant] = made or self._make(picture, wanted[variant])
        self._made += [made for made in there.values() if made is not None]

    def _file(self, known_as: str, variant: str) -> str:
        return f"{self._folders[variant]}/{known_as}{extension(self._job.variants[variant])}"

    def _standing(self, blank: Made) -> Made | None:
        """Return what is on record of this very file, if it is there and whole."""
        known = self._record.known.get((blank.id, blank.variant))
        if known is None or replace(known, sha256="", width=0, height=0, notes=()) != blank:
            return None
        try:
            return known if sha256_of(self._job.folder / known.file) == known.sha256 else None
        except NotReadable:
            return None

    def _make(self, picture: Picture, blank: Made) -> Made | None:
        variant = self._job.variants[blank.variant]
        width, height = scaled_size(picture.image.size, variant.scale)
        too_long = variant.jpeg_quality is not None and max(width, height) > MOST_JPEG
        if too_long or width * height > MOST_PIXELS:
            self._too_large(blank)
            return None
        path = self._job.folder / blank.file
        try:
            changed = varied(picture.image, variant)
            with staged(make_folder(path.parent), what=path.name) as file:
                write_picture(changed, file, variant)
                file.keep(path.name)
                made = replace(blank, sha256=file.digest, width=width, height=height, notes=picture.notes)
        except MemoryError:
            self._too_large(blank)
            return None
        self._record.add(made)
        return made

    def _too_large(self, blank: Made) -> None:
        self._skipped.append(Skipped(blank.source, "too-large", blank.source_sha256, blank.variant))
