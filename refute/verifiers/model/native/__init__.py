"""The native engine: a machine's IR as C, compiled by the system's compiler.

`forms` says how values are held, `layout` how a state is packed into bits, `convert`, `terms`,
`folds` and `steps` write the C of expressions and steps, `program` puts it together with the search
in `search.c`, `compiler` builds and caches it, and `search` drives it from a worker. Whatever has
no form here is declined by name, and the plain engine runs.
"""
