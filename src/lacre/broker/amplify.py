"""`amplify`: make the variants of images that a study's plan in force declares; nothing of it goes on record."""

from collections.abc import Sequence
from pathlib import Path

from lacre.broker.amplified import Amplified
from lacre.broker.desk import Desk
from lacre.broker.files import check_beside
from lacre.errors import ImagesNone, VariantsNotDeclared
from lacre.images.pillow import require_pillow
from lacre.rules.common import require_study


def amplify(desk: Desk, study: str, images: Sequence[str], output: Path) -> Amplified:
    """Make the declared variants of `images`, files and folders, in the folder `output`; no pool is read.

    Raises what `lacre.images.making.make_variants` does, `VariantsNotDeclared` and `ImagesUnavailable`.
    """
    in_force = require_study(desk.view(study), study).in_force
    if not in_force.protocol.variants:
        raise VariantsNotDeclared(study=study)
    require_pillow()
    if not images:
        raise ImagesNone(images="[]")
    check_beside(output, desk.layout)

    from lacre.images.making import Job, make_variants

    job = Job(study, in_force.protocol_hash, in_force.protocol.variants, output)
    done = make_variants(job, [Path(each) for each in images], desk.progress)
    return Amplified(
        study=study,
        protocol_hash=in_force.protocol_hash,
        folder=output,
        variants=in_force.protocol.variants,
        made=done.made,
        skipped=done.skipped,
        kept=done.kept,
        left_over=done.left_over,
        engine=done.engine,
    )
