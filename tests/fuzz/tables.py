"""The readers of data files, and true tables for them to begin from."""

import io
from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Any

from lacre.protocol.tables import Table
from lacre.tables.formats import Format
from lacre.tables.read import read_table

from .artefacts import Artefacts

_COLUMNS: dict[str, Any] = {
    "case_id": {"type": "text"},
    "label": {"type": "outcome", "positive": "1", "negative": "0"},
    "sex": {"type": "category", "values": ["female", "male"], "missing": ["", "NA"]},
    "n": {"type": "number", "min": 0, "max": "1/3"},
    "t": {"type": "time", "zone": "America/Sao_Paulo"},
    "d": {"type": "digest"},
}
_SHORT = [
    b"case_id,label,sex,n,t,d\n1,1,male,0.2,2026-09-02T10:00:00,\n2,0,NA,,2026-09-02,\n",
    b'\xef\xbb\xbfcase_id,label,sex,n,t,d\r\n"1",1,"ma\nle",1e-3,2026-09-02 10:00Z,sha256:'
    + b"0f" * 32
    + b"\r\n",
    b' case_id ,label,sex,n,t,d\n=1+1,1,"a""b",.5,,\n\n',
    b"case_id;label;sex;n;t;d\n\x1b[2J;1;m\xe9;0,2;;\n",
]
_JSON = [
    b'[{"case_id":"1","label":1,"sex":null,"n":0.2,"t":"2026-09-02","d":""}]',
    b'{"case_id":"\\u001b","label":true,"sex":"male","n":1e-3,"t":null,"d":"x"}\n{"case_id":{"a":[1]}}\n',
]


@cache
def _declared(number: int) -> tuple[Table, Format]:
    """One of the ways a table may be declared, and the format it comes in."""
    choices = list(product([False, True], [",", ";", "\t"], [".", ","], ["utf-8", "latin-1"], Format))
    strip, delimiter, decimal, encoding, format_ = choices[number % len(choices)]
    if delimiter == decimal:
        decimal = "."
    return (
        Table.model_validate(
            {
                "key": "case_id",
                "columns": _COLUMNS,
                "strip_header": strip,
                "delimiter": delimiter,
                "decimal": decimal,
                "encoding": encoding,
            }
        ),
        format_,
    )


def read_table_file(data: bytes) -> object:
    table, format_ = _declared(data[0] if data else 0)
    return read_table(data[1:], table, "cases", format_, only="pool", keep=["case_id"])


def table_seeds(_made: Artefacts) -> Iterable[bytes]:
    for number in range(0, 120, 7):
        format_ = _declared(number)[1]
        texts = _JSON if format_ in {Format.JSON, Format.JSON_LINES} else _SHORT
        yield from (bytes([number]) + text for text in texts)


def read_parquet_file(data: bytes) -> object:
    table, _format = _declared(0)
    return read_table(data, table, "cases", Format.PARQUET, only="pool", keep=["case_id"])


def parquet_seeds(_made: Artefacts) -> Iterable[bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"case_id": ["a", "b", "c"], "label": ["1", "0", None], "sex": ["male", "NA", None]}
    columns |= {"n": ["0.2", "0", None], "t": ["2026-09-02", None, ""], "d": ["0f" * 32, "", None]}
    for options in ({}, {"compression": "none", "use_dictionary": False}, {"data_page_version": "2.0"}):
        for extra in ({}, {"n": pa.array([0.1, 0.2, None]), "label": pa.array([1, 0, 1], pa.int8())}):
            sink = io.BytesIO()
            parquet.write_table(pa.table({**columns, **extra}), sink, **options)
            yield sink.getvalue()
