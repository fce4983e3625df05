"""The gate: one change judged against the claims of its base.

`flow` is the order of things and `gate(…)` its entry; `session` holds what one run works with;
`canary`, `spec_changes`, `judging`, `controls` and `knockout` are its questions; `mutants` makes
the knock-outs; `mode` says whether the answer decides or only advises.
"""
