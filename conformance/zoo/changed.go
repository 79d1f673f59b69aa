package zoo

import (
	"fmt"
	"os/exec"
	"strings"
)

// ChangedSince are the files, from the root, in which a checkout differs from a
// revision; new ones count. Without a revision it is the one that a change
// starts from: where the branch left origin's, or the commit before this one.
func ChangedSince(root, revision string) (files []string, since string, err error) {
	if since = revision; since == "" {
		since = startOf(root)
	}
	changed, err := git(root, "diff", "--name-only", "--relative", since, "--")
	if err != nil {
		return nil, since, fmt.Errorf("list changed files: %w", err)
	}
	added, err := git(root, "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, since, fmt.Errorf("list new files: %w", err)
	}
	return strings.Fields(changed + "\n" + added), since, nil
}

func startOf(root string) string {
	head, _ := git(root, "rev-parse", "HEAD") // no commit at all: the diff says so
	if from, err := git(root, "merge-base", "HEAD", "origin/HEAD"); err == nil && strings.TrimSpace(from) != strings.TrimSpace(head) {
		return strings.TrimSpace(from)
	}
	return "HEAD~1"
}

func git(root string, arguments ...string) (string, error) {
	c := exec.Command("git", arguments...)
	c.Dir = root
	output, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
	}
	return string(output), nil
}
