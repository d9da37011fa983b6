"""Images that variants are made of, and the folder they are written to."""

from lacre.errors.base import LacreError
from lacre.text import N_


class ImagesError(LacreError):
    """Images, or the folder of their variants, that nothing can be made of."""

    code = "images"


class ImagesUnavailable(ImagesError):
    """Images, and no library to read them."""

    code = "images-unavailable"
    template = N_("The library that reads images, Pillow, is not installed.")
    remedy = N_("Run `pip install 'lacre[images]'`.")


class VariantsNotDeclared(ImagesError):
    """A study whose plan has no `variants:`."""

    code = "variants-not-declared"
    template = N_("The protocol of {study} declares no variants.")
    remedy = N_("Declare them under `variants:`, and put that plan in force with `lacre amend`.")


class ImagesNone(ImagesError):
    """A folder without a file in it that is looked at."""

    code = "images-none"
    template = N_("There is no file in {images} to make variants of.")
    remedy = N_(
        "Name the folder that holds the images. Hidden files and folders, and links, are left out of a folder, and "
        "so is the one that is written to."
    )


class ImagesUnusable(ImagesError):
    """Files none of which gave a variant."""

    code = "images-unusable"
    template = N_("No variant could be made of any of {count} files:")
    singular = N_("No variant could be made of the one file:")
    remedy = N_(
        "Name the folder that holds the images, or see to the files; what is read is told in `lacre.images`."
    )
    listing = "skipped"


class ImagesWithin(ImagesError):
    """Images inside the folder that their variants are written to."""

    code = "images-within-output"
    template = N_("{images} is in {output}, where the variants are to be written.")
    remedy = N_("Name another folder with -o; one inside the folder of the images will do.")


class AmplifyIntoOther(ImagesError):
    """A folder that holds something, and nothing of an earlier run."""

    code = "amplify-into-other"
    template = N_("{output} holds other files already, such as {name}.")
    remedy = N_(
        "Name a folder that is empty or not there yet; or the one of an earlier run, to go on with it."
    )


class AmplifyOtherwise(ImagesError):
    """A folder that holds what was made otherwise than it would be now."""

    code = "amplify-otherwise"
    template = N_("{output} holds variants that were made otherwise: {why}.")
    remedy = N_("Name another folder; one folder holds what one plan and one version of the libraries made.")


class AmplifyBusy(ImagesError):
    """A folder that another process is writing to."""

    code = "amplify-busy"
    template = N_("Another process is making variants in {output}.")
    remedy = N_("Wait until it has ended, or name another folder.")
