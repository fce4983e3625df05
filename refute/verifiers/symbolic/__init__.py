"""The third meaning of a machine: its IR as formulas for Z3.

One evaluator serves two situations. Where every size is known, what has few values is coded in
Booleans and integers stay integers: formulas for a bounded search. Where a Sort is open, of any
size, its members are elements of an uninterpreted sort, maps over them are functions and
quantifiers stay quantifiers: formulas for a proof. What is in neither is `Outside`, by name.
"""
