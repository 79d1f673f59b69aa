package scenario

import "strconv"

// The contract's defaults (R07), which are also the default grants.
const (
	DefaultReportBytes     uint64 = 67_108_864
	DefaultDiagnosticBytes uint64 = 1_048_576
	DefaultWallMS          uint64 = 600_000
	DefaultStallMS         uint64 = 5_000
	StopGraceMS            uint64 = 1_000
)

const (
	spoolSlack   = 16 << 20  // bytes beyond the report grant: block and record overhead
	spoolCeiling = 256 << 20 // bytes of a spool that no scenario asked for
	// hangCeilingMS is the most of each limit that the driver waits for. The
	// suite's inputs are small: what no limit ends is over in a second.
	hangCeilingMS = 20_000
	// briefReachMS is the longest W that may be meant to be reached.
	briefReachMS = 10_000
	// hangMarginMS tells what ends too late from what the driver has to end.
	hangMarginMS = 3_000
)

// Granted is a Grants with the defaults filled in. Memory stays nil when
// there is no such grant.
type Granted struct {
	Report, Diagnostic, Wall, Stall uint64
	Memory                          *uint64
}

// Resolve fills in the contract's defaults.
func (g Grants) Resolve() Granted {
	return Granted{
		Report:     or(g.Report, DefaultReportBytes),
		Diagnostic: or(g.Diagnostic, DefaultDiagnosticBytes),
		Wall:       or(g.Wall, DefaultWallMS),
		Stall:      or(g.Stall, DefaultStallMS),
		Memory:     g.Memory,
	}
}

func or(v *uint64, otherwise uint64) uint64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// SpoolBytes is the size of the spool: what the scenario says, else the
// report grant with room for overhead, at most 256 MiB.
func (s Scenario) SpoolBytes() uint64 {
	if s.Spool.Bytes != 0 {
		return s.Spool.Bytes
	}
	report := s.Grants.Resolve().Report
	if report > spoolCeiling-spoolSlack {
		return spoolCeiling
	}
	return report + spoolSlack
}

// SpoolHolds is what the spool really has room for.
func (s Scenario) SpoolHolds() uint64 {
	if s.Spool.Real != 0 {
		return s.Spool.Real
	}
	return s.SpoolBytes()
}

// BarCount is the number of bars of the OHLCV file.
func (s Scenario) BarCount() int {
	if s.Bars == 0 {
		return DefaultBars
	}
	return s.Bars
}

// WantedOperation is the operation with its default filled in.
func (s Scenario) WantedOperation() Operation {
	if s.Operation == "" {
		return Full
	}
	return s.Operation
}

// WallMS and StallMS are the effective limits in milliseconds that a
// conforming launcher would work with: the value of the option that it must
// obey (command line first) if that is a usable number, else the default, and
// never more than the grant.
func (s Scenario) WallMS() uint64 {
	return s.effective(KnobWall, DefaultWallMS, s.Grants.Resolve().Wall)
}

// StallMS is described with WallMS.
func (s Scenario) StallMS() uint64 {
	return s.effective(KnobStall, DefaultStallMS, s.Grants.Resolve().Stall)
}

func (s Scenario) effective(knob string, otherwise, granted uint64) uint64 {
	value, given := s.optionValue(knob)
	n, err := strconv.ParseUint(value, 10, 53)
	switch {
	case !given, err != nil:
		return min(otherwise, granted)
	case n == 0:
		return granted
	}
	return min(n, granted)
}

func (s Scenario) optionValue(knob string) (value string, given bool) {
	for _, route := range []string{RouteEnv, RouteCLI} {
		for _, o := range s.Options {
			if o.Knob == knob && o.Route == route {
				value, given = o.Value, true
			}
		}
	}
	return value, given
}

// HangLimit is how long, in milliseconds from the spawn, the driver waits for
// the launcher's exit before it kills the attempt: what the scenario says,
// else W+G+P plus the launcher's stated slack, of each at most 20 s, and a
// margin: what is killed at the very bound of a check would decide nothing.
func (s Scenario) HangLimit(slackMS uint64) uint64 {
	if s.HangMS != 0 {
		return s.HangMS
	}
	limit := uint64(hangMarginMS)
	for _, part := range []uint64{s.WallMS(), StopGraceMS, s.StallMS(), slackMS} {
		limit += min(part, hangCeilingMS)
	}
	return limit
}

// BriefLimit is the HangLimit of a launcher that is known to be broken, where a
// sound one needed soundMS, at most, for such an attempt. Where W is not meant
// to be reached, that stands in its place: what G or P ends is still seen to
// end, and what is slow has G+P and the slack more than it takes.
func (s Scenario) BriefLimit(slackMS, soundMS uint64) uint64 {
	limit := s.HangLimit(slackMS)
	if s.HangMS != 0 || s.WallMS() <= briefReachMS {
		return limit
	}
	return min(limit, soundMS+StopGraceMS+min(s.StallMS(), hangCeilingMS)+min(slackMS, hangCeilingMS))
}
