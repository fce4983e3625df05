"""Crash exploration: what a system on a block device yields after every crash and every fault.

Operations run on the subject while the parent's device records; crash states are built from the
recording; each is recovered by the subject in another process; the view is judged against a model.
"""
