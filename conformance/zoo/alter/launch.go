package alter

import (
	"fmt"
	"slices"

	"touchstone/conformance/oracle"
)

// alterLaunch: launch argument | variable, one that the launcher was not given.
func alterLaunch(s *subject, words []string, yield yielding) {
	given := s.attempt.Launch.Argv
	if words[0] == "variable" {
		given = s.attempt.Launch.Environment
	}
	for i := range given {
		launch := s.attempt.Launch
		fewer := slices.Delete(slices.Clone(given), i, i+1)
		if words[0] == "variable" {
			launch.Environment = fewer
		} else {
			launch.Argv = fewer
		}
		yield(alteration{target: fmt.Sprintf("without %s %d", words[0], i), launch: &launch})
	}
}

// alterProfile: the attempt is said to be of another profile of the launcher.
func alterProfile(s *subject, _ []string, yield yielding) {
	for _, name := range s.others {
		yield(alteration{target: "profile " + name, cell: name})
	}
}

// alterSuite: suite rule, one of the rules of every attempt is gone.
func alterSuite(_ *subject, _ []string, yield yielding) {
	for _, id := range oracle.UniversalIDs() {
		yield(alteration{target: "without " + id, lost: id})
	}
}
