/* Failure codes and their arguments (R11, R20): "name:kind" or "name=word|word", "?" marks what may be left out. */
	{"chart_bars_rejected",
	 "field?=open|high|low|close|volume|timestamp index?:integer reason=not_finite|negative|"
	 "low_above_body|high_below_body|volume_invalid|not_increasing|delta_overflow|not_aligned|"
	 "not_canonical_slot|overlaps_previous_slot|in_session_gap|structural"},
	{"chart_bars_unreadable", "reason=io|columns|value|empty"},
	{"diagnostic_budget_exceeded", "cap_bytes:integer requested_bytes:integer used_bytes:integer"},
	{"engine_command_value_invalid",
	 "field:string reason=nonfinite|invalid_unicode|numeric_overflow stage=sizing|margin|fee|"
	 "slippage|relative_price|risk|settlement"},
	{"engine_invariant", ""},
	{"engine_unclassified_error", ""},
	{"harness_internal_error", ""},
	{"lot_grid_rejected", ""},
	{"no_data_request",
	 "call:pine_source function=request.financial|request.earnings|request.dividends|"
	 "request.splits|request.footprint|request.economic|request.quandl|request.seed|"
	 "request.currency_rate line:integer"},
	{"other_symbol_feed_missing", "timeframe?:timeframe"},
	{"other_symbol_request",
	 "call:pine_source function=request.security|request.security_lower_tf line:integer "
	 "symbol?:symbol"},
	{"out_of_memory", ""},
	{"outputs_limit", "max:integer reason=too_many_events|too_many_rows"},
	{"outputs_rejected", "reason=not_declared|run_in_progress|recalculated_after_clear"},
	{"pine_array_error",
	 "collection?=array|matrix method?=new|get|set|insert|remove|percentrank|fill|slice|first|"
	 "last|pop|shift reason=index_out_of_bounds|slice_range_inverted|empty_array_access|"
	 "size_invalid|historical_modified"},
	{"pine_invalid_argument",
	 "argument?:identifier function?:identifier rule=must_be_positive|must_not_be_na|"
	 "unknown_option|unsupported_combination|requires_xloc_bar_index|unparseable"},
	{"pine_matrix_error",
	 "function=matrix.new|matrix.get|matrix.set|matrix.row|matrix.col|matrix.add_row|"
	 "matrix.add_col|matrix.remove_row|matrix.remove_col|matrix.swap_rows|matrix.swap_columns|"
	 "matrix.submatrix|matrix.concat|matrix.reshape|matrix.restore reason=row_index_out_of_range|"
	 "column_index_out_of_range|negative_dimensions|values_size_mismatch|empty_matrix|"
	 "from_row_after_to_row|from_col_after_to_col|row_count_mismatch|column_count_mismatch|"
	 "element_count_mismatch"},
	{"pine_na_reference", "object=array|matrix|map|line|box|label|linefill|polyline|table|udt_object"},
	{"pine_runtime_limit", "limit=map_pairs|max_bars_back|matrix_elements|udt_objects max?:integer"},
	{"pine_string_error", "reason=substring_out_of_range|format_index_overflow"},
	{"recalc_cap", ""},
	{"recorded_request_missing", ""},
	{"recorded_request_refused",
	 "reason=run_in_progress|empty_key|invalid_arrays|times_not_increasing|restore_failed"},
	{"report_budget_exceeded",
	 "cap_bytes:integer channel=json|aggregate requested_bytes:integer used_bytes:integer"},
	{"report_channel_failed",
	 "channel=report|sink|candidate|diagnostic|status reason=setup|io|peer_closed|deadline|"
	 "protocol"},
	{"report_mode_unsupported", "contract=pineforge-report/v1 mode=SUMMARY_ONLY|STREAMED"},
	{"report_platform_unavailable",
	 "field=os|architecture|pointer_bits|endianness|engine_library_sha256|harness_sha256"},
	{"report_post_execution_failed",
	 "phase=result_assembly|results_digest|serialization reason=deadline|exception|io|resource"},
	{"report_result_invalid", "field:string reason=nonfinite|invalid_unicode|column_schema|type_schema"},
	{"report_shape_request_invalid", "option=report_shape|curve_point_budget value:scalar"},
	{"report_shape_unsupported", "shape:string"},
	{"report_sink_failed",
	 "cap_bytes?:integer reason=sink_exhausted|sink_peer_closed|sink_io sink_bytes?:integer"},
	{"request_symbol_invalid", ""},
	{"request_timeframe_invalid", "api=request.security|request.security_lower_tf"},
	{"request_timeframe_unsupported",
	 "input_tf?:timeframe reason=finer_than_input|lower_tf_not_divisor_of_input|"
	 "lower_tf_script_unknown|lower_tf_not_finer_than_script|lower_tf_not_divisor_of_script|"
	 "lower_tf_not_multiple_of_input|lower_tf_synthesis_failed script_tf?:timeframe"},
	{"request_unsupported", "line?:integer reason=lower_tf_lookahead_or_gaps|nested_heikinashi_request"},
	{"results_digest_unsupported", "requested:string"},
	{"run_aborted", ""},
	{"run_deadline_exceeded", "stage=prepare|compile|run|finalize|publish"},
	{"run_isolation_unavailable", "reason=platform|policy|descriptor"},
	{"run_mode_unsupported",
	 "feature=stream_native_security_feed|stream_symbol_feeds|stream_calc_on_order_fills|"
	 "stream_probe_overrides|stream_account_currency_fx|stream_instrument_feeds|"
	 "stream_monthly_input|stream_fx_curve_input|fx_series_calc_on_order_fills|"
	 "fx_series_bar_magnifier"},
	{"run_options_rejected",
	 "input_tf?:timeframe option=input_timeframe|script_timeframe|timeframes|intrabar_timeframe|"
	 "intrabar_samples|intrabar_distribution|intrabar_volume_samples|intrabar_sample_eligibility|"
	 "intrabar_path|magnifier|path_order script_tf?:timeframe"},
	{"run_process_refused", "operation=fork|vfork|clone|clone3"},
	{"run_producer_failed", "exit_status?:integer reason=exit|signal|claim signal?:integer"},
	{"run_request_invalid",
	 "option=inputs|overrides|magnifier_dist|magnifier_samples|so|ohlcv|syminfo|symbol_feeds|"
	 "trade_start_ms|warmup|repeats|arguments|input_tf|script_tf|bar_magnifier|generated_cpp|"
	 "transpiled|chart_tz|magnifier_volume_weighted|bench"},
	{"scratch_configuration_invalid", ""},
	{"security_feed_refused",
	 "reason=aux_feed_shape|aux_feed_timeframe|aux_feed_order|aux_feed_no_chart|"
	 "aux_feed_not_finer|aux_feed_not_divisor|aux_chart_order|aux_chart_period_identity|"
	 "native_feed_timeframe|native_feed_shape|native_feed_order"},
	{"setting_rejected",
	 "entrypoint?=strategy_set_input|strategy_set_override|strategy_set_magnifier_volume_weighted|"
	 "strategy_create input?:pine_source reason?=expected_integer|invalid_integer_exponent|"
	 "invalid_integer_or_trailing_bytes|expected_integral_value|integer_out_of_range|"
	 "invalid_integer_sign|expected_finite_decimal|invalid_numeric_exponent|"
	 "invalid_number_or_trailing_bytes|number_out_of_finite_range|number_underflows_to_zero|"
	 "number_not_consumable|invalid_boolean|invalid_enum_option|value_below_minimum|"
	 "value_above_maximum|invalid_input_option|unknown_key|ambiguous_key|frozen|unparseable_value"},
	{"setting_unsupported", ""},
	{"strategy_create_failed", ""},
	{"strategy_library_incompatible",
	 "abi?:integer missing?=strategy_set_syminfo_metadata|strategy_set_symbol_facts|"
	 "strategy_set_symbol_feed|strategy_create|strategy_set_input|strategy_set_override|"
	 "run_backtest_full|strategy_free|report_free|strategy_set_syminfo_mintick|"
	 "strategy_set_syminfo_pointvalue|strategy_set_syminfo_timezone|strategy_set_syminfo_session "
	 "reason=load_failed|abi_missing|abi_mismatch|symbol_missing|setter_missing|"
	 "settings_api_mismatch|outputs_api_mismatch|outputs_manifest_invalid"},
	{"strategy_runtime_error", ""},
	{"strategy_settings_rejected",
	 "field=initial_capital|slippage_ticks|fee_kind|fee_value|close_execution|max_abs_units|"
	 "max_open_lots|allowed_open_directions|initial_margin_fraction|price_grid|grid_rounding|"
	 "margin_model|margin_initial|margin_maintenance|margin_sizing|margin_shortfall_multiple|"
	 "margin_min_units|margin_check|margin_equity_basis|margin_level_base|calculation|"
	 "open_bar_view|risk_limits|risk_drawdown|risk_intraday_loss|risk_loss_days|"
	 "risk_fills_per_day|risk_day_basis|risk_action|quantity_tolerance"},
	{"strategy_value_invalid", "field:string reason=nonfinite|invalid_unicode|numeric_overflow"},
	{"stream_input_rejected", ""},
	{"symbol_feeds_refused",
	 "field?=instrument_feed_instrument|instrument_feed_timeframe|instrument_feed_bars|"
	 "instrument_feed_close|instrument_feed_columns|subscription_instrument input_tf?:timeframe "
	 "reason=symbol_text_invalid|timeframe_invalid|feed_columns_missing|feed_value_not_number|"
	 "feed_value_invalid|feed_time_out_of_range|feed_unreadable|feed_not_utf8_csv|"
	 "feed_not_increasing|feed_close_time_invalid|syminfo_not_object|syminfo_mintick_invalid|"
	 "index_duplicate_key|index_unreadable|index_not_json|index_shape|too_many_symbols|"
	 "entry_shape|feeds_not_object|too_many_feeds|duplicate_timeframe|feed_path_invalid|"
	 "library_without_symbol_feeds|engine_refused|chart_input_aggregated|kernel_refused_series|"
	 "run_in_progress|empty_key|timeframe_unparsable|invalid_bars|kernel_refused|no_feed|"
	 "empty_column|column_length|column_refused|valid_not_boolean|mintick_invalid|unknown_field|"
	 "invalid_arrays|times_not_increasing|restore_failed script_tf?:timeframe"},
	{"symbol_metadata_rejected",
	 "field=ticker|ticker_id|type|currency|base_currency|description|volume_type|timezone|session|"
	 "chart_timezone|point_value|account_fx|price_tick|session_calendar"},
	{"syminfo_unreadable", "reason=io|not_json|not_object|value_type"},
	{"window_boundary_unaligned",
	 "bound=start|end|fed_start next_boundary_ms:integer previous_boundary_ms:integer "
	 "value_ms:integer"},
	{"window_calendar_unsupported", "session:nullable_string timezone:string"},
	{"window_feed_identity_changed", "actual_sha256:string expected_sha256:string feed_id:string"},
	{"window_feed_range_invalid", "end_ms:integer fed_start_ms:integer time_ms:integer"},
	{"window_input_cap_exceeded",
	 "actual:integer cap_name=run_input_bars|run_script_bars|native_input_bars|hpo_input_bars|"
	 "hpo_script_bars|hpo_memory_bytes|symbol_feed_input_bars|symbol_feeds_total_input_bars "
	 "limit:integer"},
	{"window_legacy_flag_conflict", "option:string"},
	{"window_lineage_mismatch", "actual:scalar expected:scalar field:string"},
	{"window_mode_unsupported", "capability:string requested?:integer timeframe?:string"},
	{"window_no_observations", "end_ms:integer start_ms:integer"},
	{"window_preroll_out_of_range", "requested:integer"},
	{"window_prestart_fill", "fill_ms:integer start_ms:integer"},
	{"window_prestart_state_violation", "position_size:number resting_orders:integer time_ms:integer"},
	{"window_pruner_unsupported", "pruner:string"},
	{"window_range_invalid", "end_ms:integer fed_start_ms:integer start_ms:integer"},
	{"window_report_mismatch",
	 "actual:integer expected:integer field=counts.window_input_bars|counts.window_script_bars|"
	 "metering.billable_input_bars"},
	{"window_request_invalid",
	 "option=report_policy|window_start_ms|window_end_ms|preroll_bars|fed_start_ms|"
	 "feed_bytes_sha256|input_tf|script_tf|chart_tz|trade_start_ms|window|schema_version|objective"},
