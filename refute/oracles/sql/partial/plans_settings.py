"""Settings by which an engine plans otherwise, without any of them changing what a query means.

Each is one or more statements with those that take it back. An engine that has not one refuses it,
and the question is open. What the settings mean stands in each engine's documentation: SQLite's
"PRAGMA Statements"; DuckDB's "Configuration" (optimizers have the names of `duckdb_optimizers()`);
DataFusion's "Configuration Settings"; PostgreSQL's chapter "Query Planning"; MySQL's and MariaDB's
`optimizer_switch`.
"""

from __future__ import annotations

import random
from typing import NamedTuple


class Setting(NamedTuple):
    """do: statements. undo: those that restore what was."""

    do: tuple[str, ...]
    undo: tuple[str, ...]


_SQLITE = {"automatic_index": ("0", "1"), "reverse_unordered_selects": ("1", "0")}
_OPTIMIZERS = (
    *("expression_rewriter", "filter_pullup", "filter_pushdown", "regex_range", "in_clause"),
    *("join_order", "deliminator", "unnest_rewriter", "unused_columns", "statistics_propagation"),
    *("common_subexpressions", "common_aggregate", "column_lifetime", "top_n", "reorder_filter"),
    *("compressed_materialization", "duplicate_groups", "build_side_probe_side"),
    *("join_filter_pushdown", "limit_pushdown", "materialized_cte", "empty_result_pullup"),
    *("cte_filter_pusher", "late_materialization", "cte_inlining", "row_group_pruner"),
    *("top_n_window_elimination", "common_subplan", "join_elimination", "window_self_join"),
    *("projection_pullup", "outer_join_simplification", "window_rewriter", "grouping_sets"),
    *("partial_aggregate_pushdown", "distinct_aggregate_rewrite", "aggregate_reuse"),
    *("redundant_order_keys", "self_join_aggregate", "aggregate_function_rewriter"),
)
_DUCKDB = {
    "threads": ("4", "1"),
    "prefer_range_joins": ("true", "false"),
    "perfect_ht_threshold": ("0", "12"),
    "nested_loop_join_threshold": ("0", "5"),
    "merge_join_threshold": ("0", "1000"),
    "debug_force_external": ("true", "false"),
    "debug_window_mode": ("'separate'", "'window'"),
    "preserve_insertion_order": ("false", "true"),
}
_DATAFUSION = {
    "optimizer.max_passes": ("0", "3"),
    "optimizer.prefer_hash_join": ("false", "true"),
    "optimizer.filter_null_join_keys": ("true", "false"),
    "optimizer.enable_topk_aggregation": ("false", "true"),
    "optimizer.enable_dynamic_filter_pushdown": ("false", "true"),
    "optimizer.enable_distinct_aggregation_soft_limit": ("false", "true"),
    "optimizer.prefer_existing_union": ("true", "false"),
    "optimizer.enable_sort_pushdown": ("false", "true"),
    "optimizer.hash_join_single_partition_threshold": ("0", "1048576"),
    "execution.target_partitions": ("4", "1"),
    "execution.batch_size": ("2", "8192"),
    "execution.coalesce_batches": ("false", "true"),
}
_POSTGRESQL = {
    **{
        f"enable_{name}": "off"
        for name in (
            *("hashjoin", "mergejoin", "nestloop", "seqscan", "indexscan", "indexonlyscan"),
            *("bitmapscan", "hashagg", "sort", "material", "memoize", "incremental_sort"),
        )
    },
    "from_collapse_limit": "1",
    "join_collapse_limit": "1",
    "geqo_threshold": "2",
    "jit_above_cost": "0",
    "random_page_cost": "0",
    "work_mem": "'64kB'",
    "plan_cache_mode": "force_generic_plan",
}
_SWITCHES = (
    *("index_merge", "mrr", "block_nested_loop", "materialization", "semijoin", "firstmatch"),
    *("loosescan", "derived_merge", "condition_fanout_filter", "index_condition_pushdown"),
    *("duplicateweedout", "subquery_materialization_cost_based", "derived_condition_pushdown"),
)


def setting(dialect: str, rng: random.Random) -> Setting | None:
    """A setting of an engine of the dialect; None where none is known."""
    chosen = _CHOICES.get(dialect)
    return None if chosen is None else chosen(rng)


def _sqlite(rng: random.Random) -> Setting:
    names = rng.sample(sorted(_SQLITE), rng.randint(1, len(_SQLITE)))
    return Setting(
        tuple(f"PRAGMA {name} = {_SQLITE[name][0]}" for name in names),
        tuple(f"PRAGMA {name} = {_SQLITE[name][1]}" for name in names),
    )


def _duckdb(rng: random.Random) -> Setting:
    form = rng.random()
    if form < 0.25:
        return Setting(("PRAGMA disable_optimizer",), ("PRAGMA enable_optimizer",))
    if form < 0.35:
        return Setting(("PRAGMA enable_verification",), ("PRAGMA disable_verification",))
    if form < 0.7:
        names = ",".join(rng.sample(_OPTIMIZERS, rng.randint(1, 3)))
        return Setting((f"SET disabled_optimizers = '{names}'",), ("RESET disabled_optimizers",))
    return _set(rng, _DUCKDB, "SET {} = {}")


def _datafusion(rng: random.Random) -> Setting:
    return _set(rng, _DATAFUSION, "SET datafusion.{} = {}")


def _set(rng: random.Random, known: dict[str, tuple[str, str]], form: str) -> Setting:
    names = rng.sample(sorted(known), rng.randint(1, 2))
    return Setting(
        tuple(form.format(name, known[name][0]) for name in names),
        tuple(form.format(name, known[name][1]) for name in names),
    )


def _postgresql(rng: random.Random) -> Setting:
    names = rng.sample(sorted(_POSTGRESQL), rng.randint(1, 4))
    return Setting(
        tuple(f"SET {name} = {_POSTGRESQL[name]}" for name in names),
        tuple(f"RESET {name}" for name in names),
    )


def _mysql(rng: random.Random) -> Setting:
    name = rng.choice(_SWITCHES)
    return Setting(
        (f"SET SESSION optimizer_switch = '{name}=off'",),
        ("SET SESSION optimizer_switch = DEFAULT",),
    )


_CHOICES = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "datafusion": _datafusion,
    "postgresql": _postgresql,
    "mysql": _mysql,
}
