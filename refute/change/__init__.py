"""Changes: two revisions as content, and what differs between them.

`git` reads objects, `trees` lists and exports revisions and worktrees, `units` cuts Python source
into what can change, `difference` compares two exported trees. Nothing of the judged repository is
run: no filters, hooks, attributes or text conversions, and the index is never asked.
"""
