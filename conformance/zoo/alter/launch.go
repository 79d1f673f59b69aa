package alter

import (
	"fmt"
	"slices"
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
