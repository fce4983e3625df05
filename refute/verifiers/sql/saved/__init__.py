"""The parts of the scripts that findings are saved as: a driver, and what judges its answers.

They are modules like any other, so that they are linted, typed and tested; `fuzz_saved_script`
takes their text, leaves out what imports refute, and puts the case in its place. A script so made
needs Python and the engine's driver. A driver has `opened(engine)`, which returns a function: SQL
in; rows out, or None where there is no result; SQL errors are raised as classes named `Error`.
"""
