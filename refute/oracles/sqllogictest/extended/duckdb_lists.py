"""The lists that a `foreach` of DuckDB's dialect can name, and what they stand for.

As in ForEachTokenReplace of test/sqlite/sqllogic_command.cpp. `<signed>` is part of `<integral>`,
that of `<numeric>`, that of `<alltypes>`. The documentation's table of compressions is older.
"""

from __future__ import annotations

from collections.abc import Iterable

_SIGNED = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_UNSIGNED = ("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint")
_INTEGRAL = _SIGNED + _UNSIGNED
_NUMERIC = (*_INTEGRAL, "float", "double")
_COMPRESSIONS = (
    *("none", "uncompressed", "rle", "bitpacking", "dictionary"),
    *("fsst", "dict_fsst", "alp", "alprd"),
)
_COLUMNS = """
bool tinyint smallint int bigint hugeint uhugeint utinyint usmallint uint ubigint date time
timestamp timestamp_s timestamp_ms timestamp_ns time_tz timestamp_tz float double dec_4_1 dec_9_4
dec_18_6 dec38_10 uuid interval varchar blob bit small_enum medium_enum large_enum int_array
double_array date_array timestamp_array timestamptz_array varchar_array nested_int_array struct
struct_of_arrays array_of_structs map union fixed_int_array fixed_varchar_array
fixed_nested_int_array fixed_nested_varchar_array fixed_struct_array struct_of_fixed_array
fixed_array_of_int_list list_of_fixed_int_array
"""

LISTS = {
    "<signed>": _SIGNED,
    "<unsigned>": _UNSIGNED,
    "<integral>": _INTEGRAL,
    "<numeric>": _NUMERIC,
    "<alltypes>": (*_NUMERIC, "bool", "interval", "varchar"),
    "<compression>": _COMPRESSIONS,
    "<all_types_columns>": tuple(_COLUMNS.split()),
}


def expanded(tokens: Iterable[str]) -> tuple[str, ...]:
    """The values of a `foreach`: lists in place of their names, and without what has `!` before it.

    `!` before a value that is not there yet is part of the value, as in DuckDB's runner.
    """
    values: list[str] = []
    for token in tokens:
        known = LISTS.get(token.lower())
        if known is not None:
            values += known
        elif token.startswith("!") and token[1:] in values:
            values.remove(token[1:])
        else:
            values.append(token)
    return tuple(values)
