package faultinject

import (
	"path"
	"strings"
)

// MatchPath tells whether a path fits a pattern of path.Match. A pattern that
// does not begin with a slash is compared with as many last elements of the
// path as it has itself, so "*.tmp" fits "/a/b.tmp".
func MatchPath(pattern, name string) bool {
	if !strings.HasPrefix(pattern, "/") {
		elements := strings.Split(name, "/")
		wanted := strings.Count(pattern, "/") + 1
		name = strings.Join(elements[max(0, len(elements)-wanted):], "/")
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
