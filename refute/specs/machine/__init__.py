"""State machines: the language, its intermediate representation and its plain-Python meaning."""

from refute.specs.machine.statement import Reaches, Satisfies

__all__ = ["Reaches", "Satisfies"]
