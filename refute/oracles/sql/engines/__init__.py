"""Engines as they live in a worker: sessions of several connections, one module for each kind.

`refute.verifiers.sql.conform_engines` says which is for what; a module that needs a driver's
package is loaded by name in the worker, so that the package is needed only where it is used.
"""
