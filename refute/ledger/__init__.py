"""The ledger: evidence kept under the digests of everything it depends on, in one SQLite file.

`key` holds the secret that authenticates rows, `file` the database, `surroundings` what evidence
depends on besides code, `rows` evidence as data, `store` what `check` and the gate ask. A row that
is not authenticated is never evidence, a witness is never trusted but replayed, and a file that is
not a ledger is never written to.
"""
