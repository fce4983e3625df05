"""The exceptions of PEP 249, under the names that every DB-API module has.

What minidb lacks raises NotSupportedError and names the construct; a wrong row would be worse.
"""

from __future__ import annotations


class Warning(Exception):
    """Something of importance that is no error; never raised here, but PEP 249 asks for it."""


class Error(Exception):
    """Whatever goes wrong in a database."""


class InterfaceError(Error):
    """The connection or cursor is used in a way that it does not have."""


class DatabaseError(Error):
    """The database itself cannot do what it was asked."""


class DataError(DatabaseError):
    """A value that cannot be processed."""


class OperationalError(DatabaseError):
    """An unknown name, a syntax error, a wrong type, an overflow: all that SQL calls an error."""


class IntegrityError(DatabaseError):
    """A constraint would be broken."""


class InternalError(DatabaseError):
    """The database is not what it should be."""


class ProgrammingError(DatabaseError):
    """A closed connection, a wrong number of parameters, several statements at once."""


class NotSupportedError(DatabaseError):
    """SQL that SQLite has and minidb does not."""
