"""Protocol files that cannot be accepted."""

from lacre.errors.base import LacreError
from lacre.text import N_


class ProtocolError(LacreError):
    """A protocol file that cannot be accepted."""

    code = "protocol"


class ProtocolInvalid(ProtocolError):
    """A protocol file with problems; `problems` holds one `line:column path: sentence` a line."""

    code = "protocol-invalid"
    template = N_("{name} cannot be accepted as it stands ({count} to mend):")
    remedy = N_(
        "Mend what is listed, then run `lacre check` again; `lacre new` lists whole protocols to compare with."
    )

    listing = "problems"


class KindNotBuilt(ProtocolError):
    """A protocol that is sound, and asks for analyses this version does not have."""

    code = "kind-not-built"
    template = N_("This version of lacre cannot yet compute {analyses}.")
    remedy = N_("It has {built}. Take the others out, or register with a version that has them.")


class TemplateUnknown(ProtocolError):
    """A template lacre does not have."""

    code = "template-unknown"
    template = N_("There is no template {name}.")
    remedy = N_("Choose one of {known}.")


class ImportInvalid(ProtocolInvalid):
    """A file to make a protocol from, with problems listed as those of a protocol are."""

    code = "import-invalid"
    template = N_("No protocol can be made from {name} as it stands ({count} to mend):")
    remedy = N_(
        "Mend what is listed and give the same command again; `lacre new --help` says what the file may hold."
    )
