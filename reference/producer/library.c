/* library: load the strategy library and find its symbols. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "producer.h"

#define INCOMPATIBLE "strategy_library_incompatible"

static void *
find(void *handle, const char *name)
{
	return dlsym(handle, name);
}

static void *
require(void *handle, const char *name)
{
	void *symbol = find(handle, name);
	char args[128];

	if (symbol == NULL) {
		snprintf(args, sizeof args, "{\"missing\":\"%s\",\"reason\":\"symbol_missing\"}", name);
		fail(INCOMPATIBLE, args, "the strategy library does not export %s", name);
	}
	return symbol;
}

/* A path without a slash would be searched for. */
static void *
open_library(const char *path)
{
	char *name = NULL;

	if (asprintf(&name, "%s%s", strchr(path, '/') == NULL ? "./" : "", path) < 0)
		fail("out_of_memory", "{}", "no memory for a path");
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	free(name);
	if (handle == NULL)
		fail(INCOMPATIBLE, "{\"reason\":\"load_failed\"}", "the strategy library cannot be loaded: %s", dlerror());
	return handle;
}

static void
check_abi(struct library *library)
{
	char args[64];

	if (library->abi == NULL)
		fail(INCOMPATIBLE, "{\"reason\":\"abi_missing\"}", "the strategy library does not export pf_abi_version");
	int abi = library->abi();
	if (abi != ENGINE_ABI_VERSION) {
		snprintf(args, sizeof args, "{\"abi\":%d,\"reason\":\"abi_mismatch\"}", abi);
		fail(INCOMPATIBLE, args, "the strategy library has ABI %d, not %d", abi, ENGINE_ABI_VERSION);
	}
}

/* Loads the library, which runs its constructors, and never unloads it. */
struct library
library_load(const char *path)
{
	struct library library;
	void *handle = open_library(path);

	*(void **)&library.abi = find(handle, "pf_abi_version");
	check_abi(&library);
	*(void **)&library.create = require(handle, "strategy_create");
	*(void **)&library.set_input = require(handle, "strategy_set_input");
	*(void **)&library.set_override = require(handle, "strategy_set_override");
	*(void **)&library.run = require(handle, "run_backtest_full");
	*(void **)&library.free = require(handle, "strategy_free");
	*(void **)&library.free_report = require(handle, "report_free");
	*(void **)&library.last_error = find(handle, "strategy_get_last_error");
	*(void **)&library.last_error_code = find(handle, "strategy_get_last_error_code");
	*(void **)&library.last_error_args = find(handle, "strategy_get_last_error_args");
	*(void **)&library.last_status = find(handle, "strategy_last_run_status");
	*(void **)&library.entry_incarnation = find(handle, "strategy_closed_trade_entry_incarnation");
	*(void **)&library.set_trade_start = find(handle, "strategy_set_trade_start_time");
	*(void **)&library.set_timezone = find(handle, "strategy_set_chart_timezone");
	*(void **)&library.set_sink = find(handle, "strategy_set_report_sink_fd");
	*(void **)&library.finish_sink = find(handle, "strategy_finish_report_sink");
	*(void **)&library.sink_receipt = find(handle, "strategy_get_report_sink_receipt");
	*(void **)&library.window_version = find(handle, "pf_selected_window_version");
	*(void **)&library.set_window = find(handle, "strategy_set_selected_window_v1");
	*(void **)&library.window_counts = find(handle, "strategy_selected_window_counts_v1");
	*(void **)&library.observer_version = find(handle, "pf_execution_observer_version");
	*(void **)&library.set_observer = find(handle, "strategy_set_execution_observer_v1");
	*(void **)&library.observation = find(handle, "strategy_execution_observation_v1");
	return library;
}
