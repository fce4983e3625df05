"""Reports: the only place that formats.

Each module renders one `refute.record.Run`: `text` for people, `document` for JSON, `sarif` and
`junit` for machines of others. Counterexamples that outlive the run are files of `witness_file`.
"""
