"""Contracts of functions: an SMT proof for all inputs, and engines that look for a witness.

The Z3 prover generates verification conditions from the syntax tree and discharges them in a
worker; it imports and runs nothing of the judged tree. See `inside` for what it does in order.
"""
