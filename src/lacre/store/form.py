"""What the migrations make of a ledger's database, so that an audit need not run them to know.

A database's form is a mapping: of each table, index and trigger its name, and the SHA-256 of its SQL, spaces
between words being one; and of `user_version`, which lacre leaves at 0. What SQLite makes of itself (the
index of a primary key, the statistics that `ANALYZE` leaves) is no part of it. A test holds `FORM` against
the migrations.
"""

from collections.abc import Iterable

from lacre.canonical import sha256_hex

OBJECTS = (
    "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    " AND NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))"
)
"""Asks for the name and the SQL of all that `form_of` wants."""


def form_of(user_version: object, objects: Iterable[tuple[object, object]]) -> dict[str, str]:
    """Return the form of a database with these objects, each a name and its SQL."""
    form: dict[str, list[object]] = {"user_version": [user_version]}
    for name, sql in objects:
        form.setdefault(str(name), []).append(sql)
    return {name: _digest("; ".join(map(str, said))) for name, said in form.items()}


def _digest(said: str) -> str:
    return sha256_hex(" ".join(said.split()).encode("utf-8", "replace"))


FORM = {
    "alembic_version": "c85bfd889cff304bc45779b35249633db07627c6e27322efb0b63bdc0ac77ca4",
    "checkpoint": "28a790a97885dccab6916084d89e2fcbf1db8640db55f27114ac40e26a2e3fa0",
    "checkpoint_grows": "fc297bc365bf417dde218e7f6143c119c63fabc994da557a374caf48c457cf90",
    "checkpoint_once": "6de79a31f5c21cb9b618335e1e913af3ab4e0117a39ab53c4709ac28767648e2",
    "checkpoint_stays": "f0332074e00e1d38529874d9288a246d842b4e735265857e18905758147dedc7",
    "documents": "6aac2e78969ac3f0073213834008b5e472070e1405042fe8da58698cdcb051ef",
    "documents_erased": "2d7f4fd5e060cf7f089430ef2645605eb4a2b7be48ac6dbb29025e7fe1c13277",
    "documents_once": "6ed7c57e185df6c48a321a7b0b75b9a4576c0b57132d0357298d6f54a1931820",
    "documents_unchanged": "4fa15209fc35df0ab281bffbdd9c92809323e5b6351981067b6c29f34f7b0ad9",
    "documents_undeleted": "c0252b64e4e4ffbd3108b1cc7fae8e49c599000d201428c1e5a7e6f0417dd273",
    "entries": "335bc6fad25d6dd91e6f696bad66c572a7b0f3bdd65e331c28e091eddfce681a",
    "entries_erases": "b543054c2f1cd7eaa1cbef8b552037e9cd96efa21d95f380aaa43c12d7760539",
    "entries_in_order": "45ff9d4d85259b2e67a779ff1dbc011487996e7c2c8c4f875518cce33c1bc10c",
    "entries_keys": "201d50313bb55451652e503b2ca3769bd03ca1ec7703fda6066d547f0b012ceb",
    "entries_nonce": "e669515a771517ae325b71d54c08b60c0c3ff62feb2467073e989b12389a1aff",
    "entries_nonce_once": "9f470c2458845cc3e0f113b08cf41280494aa76a0898c40bf0b597a6664d93b1",
    "entries_study": "1e47a9d733cfd3fa7100abb1e455aefa1077a0b14af41a272ea0fb73d9de62da",
    "entries_teste": "6a015a38b82558f5a6d2f14a406636d5ebd4fa19c9d4b2774d4c92e589ee1978",
    "entries_teste_once": "4e92eeee337541af2f9f1affead674bc6687c8fd2154a3ae40f304474e73a4c5",
    "entries_unchanged": "8012f56fd0bfa447f5e80b799eb8f2b3961c4291a8f0daa9ea32f3c365be601a",
    "entries_undeleted": "db89d190ee3a69d01cb576cc97691ef1c75a1a9c7c8e42bd0a23832de5dda721",
    "nodes": "f50c03a39cf06d34014ca5be050f7432aa436e9265a1df959cd5c0a422245171",
    "nodes_once": "0609d857a6b61497727adaa8d6de23b3d183f9b3a953d3463db4aa7f07bc053c",
    "nodes_unchanged": "93fb6f84a2db74adc0c67ee23db64f911093d4657cecf086da6212fb8c345d61",
    "nodes_undeleted": "fb4ebc2b86cf0270f704b3bfe84cdd56874fdeb6dcc6bad66b472f5a296c8309",
    "user_version": "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
}
"""The form of every ledger's database of this version."""
