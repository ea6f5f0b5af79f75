/** Settings that a session leaves as role and database have them, by the reason why it may. */
export const OTHER_SETTINGS: readonly (readonly [reason: string, names: RegExp])[] = [
  [
    "decides how a statement is planned and what it may use, not what it finds",
    /^(enable_|geqo|jit|cpu_|seq_page_cost$|random_page_cost$|parallel_|min_parallel_|max_parallel_)|^(constraint_exclusion|cursor_tuple_fraction|debug_parallel_query|default_statistics_target|effective_cache_size|effective_io_concurrency|force_parallel_mode|from_collapse_limit|hash_mem_multiplier|io_combine_limit|join_collapse_limit|logical_decoding_work_mem|maintenance_io_concurrency|maintenance_work_mem|max_stack_depth|plan_cache_mode|recursive_worktable_factor|temp_buffers|temp_file_limit|work_mem|backend_flush_after|file_copy_method|file_extend_method|synchronize_seqscans|vacuum_.*|gin_pending_list_limit|ignore_system_indexes|parallel_leader_participation|query_mem)$/,
  ],
  [
    "decides what is logged, counted or reported",
    /^(log_|debug_|track_|trace_|stats_|backtrace_functions$|client_min_messages$|compute_query_id$|update_process_title$|lc_messages$|application_name$|escape_string_warning$|operator_precedence_warning$|wal_consistency_checking$|send_abort_for_|restart_after_crash$|array_expansion_warning$)/,
  ],
  [
    "limits time, or how fast and how safely a commit is written",
    /(_timeout|_delay|_siblings|_check_interval|_interval)$|^(statement_timeout|tcp_|synchronous_commit$|wal_compression$|wal_init_zero$|wal_recycle$|wal_skip_threshold$|wal_sender|commit_|deadlock_|max_logical|ssl_)/,
  ],
  [
    "decides where and how new tables are stored; the service makes none of the operator's",
    /^(default_table_access_method|default_tablespace|default_toast_compression|default_with_oids|temp_tablespaces|allow_system_table_mods|allow_in_place_tablespaces|check_function_bodies|createrole_self_grant|password_encryption|lo_compat_privileges|event_triggers|icu_validation_level|allow_alter_system|restrict_nonsystem_relation_kind)$/,
  ],
  [
    "decides what a transaction may do; the service begins its own, and reads whether it may write",
    /^(default_transaction_deferrable|default_transaction_isolation|default_transaction_read_only|transaction_deferrable|transaction_isolation|transaction_read_only|exit_on_error|role|session_authorization|session_replication_role|seed)$/,
  ],
  [
    "reads damaged pages, or loads code: for the owner of the server alone",
    /^(zero_damaged_pages|ignore_invalid_pages|ignore_checksum_failure|dynamic_library_path|extension_control_path|extension_destdir|local_preload_libraries|session_preload_libraries|shared_preload_libraries|jit_provider|is_superuser|data_sync_retry|remove_temp_files_after_crash|recovery_init_sync_method)$/,
  ],
  [
    "is read only by the operator's own triggers, views and functions, which must do what they do for other clients",
    /^(default_text_search_config|lc_numeric|lc_time|transform_null_equals|backslash_quote|plpgsql\..*|search_path)$/,
  ],
];

/** An odd value of each setting that a session or statement pins. */
export const ODD_VALUES: Readonly<Record<string, string>> = {
  DateStyle: "German",
  TimeZone: "Asia/Tokyo",
  client_encoding: "LATIN1",
  IntervalStyle: "sql_standard",
  extra_float_digits: "-5",
  bytea_output: "escape",
  lc_monetary: "C.utf8",
  array_nulls: "off",
  timezone_abbreviations: "Australia",
  xmloption: "document",
  xmlbinary: "hex",
  quote_all_identifiers: "on",
  standard_conforming_strings: "off",
  row_security: "off",
  gin_fuzzy_search_limit: "1",
};
