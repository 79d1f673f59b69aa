package contracts

// UsageMembers returns the members of usage. Rules: R12.
func UsageMembers() []string { return []string{"version", "stages", "job"} }

// UsageStages returns the entries of usage.stages: the five stages, in order.
// Rules: R12.
func UsageStages() []string { return Stages() }

// UsageEntryMembers returns the members of each stage entry and of job.
// Rules: R12.
func UsageEntryMembers() []string { return []string{"state", "resources"} }

// UsageCell is one fixed resource cell and the unit of its four quantities.
type UsageCell struct{ Name, Unit string }

// UsageCells returns the resource cells of every stage and of the job, in the
// order of R12's table. There are nineteen. Rules: R12.
func UsageCells() []UsageCell {
	return []UsageCell{
		{"wall", UnitMilliseconds}, {"cpu_user", UnitMicroseconds}, {"cpu_system", UnitMicroseconds},
		{"memory_rss", UnitBytes}, {"memory_private", UnitBytes}, {"memory_job", UnitBytes},
		{"scratch_logical", UnitBytes}, {"scratch_allocated", UnitBytes},
		{"work_logical", UnitBytes}, {"work_allocated", UnitBytes},
		{"scratch_files", UnitCount}, {"work_files", UnitCount},
		{"open_fds", UnitCount}, {"processes", UnitCount},
		{"arena_claimed", UnitBytes}, {"arena_capacity", UnitBytes},
		{"report_bytes", UnitBytes}, {"sink_bytes", UnitBytes}, {"diagnostic_bytes", UnitBytes},
	}
}

// CellMembers returns the members of a resource cell: four quantities, then
// four words. Rules: R12.
func CellMembers() []string {
	return []string{"used", "requested", "limit", "peak", "unit", "scope", "source", "state"}
}

// Units of a cell's quantities. Rules: R12.
const (
	UnitBytes        = "bytes"
	UnitCount        = "count"
	UnitMilliseconds = "ms"
	UnitMicroseconds = "us"
)

// CellUnits returns the four units. Rules: R12.
func CellUnits() []string {
	return []string{UnitBytes, UnitCount, UnitMilliseconds, UnitMicroseconds}
}

// Populations that a cell may describe. Rules: R12.
const (
	ScopeStageProcess = "stage_process"
	ScopeStageDomain  = "stage_domain"
	ScopeJobDomain    = "job_domain"
	ScopeAttachment   = "attachment"
)

// CellScopes returns the four scopes. Rules: R12.
func CellScopes() []string {
	return []string{ScopeStageProcess, ScopeStageDomain, ScopeJobDomain, ScopeAttachment}
}

// Sources of a cell's observations. Rules: R12.
const (
	SourceWait4         = "wait4"
	SourceCgroup        = "cgroup"
	SourceFilesystem    = "filesystem"
	SourceFDObservation = "fd_observation"
	SourceChannel       = "channel"
	SourceClock         = "clock"
	SourceAdmission     = "admission"
	SourceEngine        = "engine"
	SourceNone          = "none"
)

// CellSources returns the nine sources. Rules: R12.
func CellSources() []string {
	return []string{
		SourceWait4, SourceCgroup, SourceFilesystem, SourceFDObservation, SourceChannel,
		SourceClock, SourceAdmission, SourceEngine, SourceNone,
	}
}

// Quality of an observation, and coverage of a stage. Rules: R12.
const (
	StateMeasured          = "measured"
	StateSampledLowerBound = "sampled_lower_bound"
	StateUnavailable       = "unavailable"
	StateProducerReported  = "producer_reported"
	StateNotStarted        = "not_started"
)

// CellStates returns the five states of a cell. Rules: R12.
func CellStates() []string {
	return []string{
		StateMeasured, StateSampledLowerBound, StateUnavailable, StateProducerReported, StateNotStarted,
	}
}

// StageStates returns the five states of a stage entry or of job; the contract
// gives both the same list. Rules: R12.
func StageStates() []string { return CellStates() }
