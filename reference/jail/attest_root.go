package jail

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

func (d *Domain) attestRoot() error {
	var have, own unix.Stat_t
	if err := unix.Stat(d.proc("root"), &have); err != nil {
		return err
	}
	if err := unix.Stat("/", &own); err != nil {
		return err
	}
	if have.Dev == own.Dev && have.Ino == own.Ino {
		return fmt.Errorf("root is S's own")
	}
	cwd, err := os.Readlink(d.proc("cwd"))
	if err != nil {
		return err
	}
	if cwd != "/" {
		return fmt.Errorf("working folder is %s", cwd)
	}
	text, err := readFile(d.proc("mountinfo"))
	if err != nil {
		return err
	}
	given := slices.Concat(d.spec.System, d.spec.Files, []string{d.spec.Exe})
	return checkMounts(text, given, d.spec.Work != "")
}

// checkMounts wants every mount to be the sealed root, /tmp, a device, inside a
// given path or, where there is one, the work folder, with the restrictions
// that belong to each.
func checkMounts(mountinfo string, given []string, work bool) error {
	seen := map[string]bool{}
	for line := range strings.Lines(mountinfo) {
		m, ok := parseMount(line)
		if !ok {
			return fmt.Errorf("mount line %q", line)
		}
		seen[m.point] = true
		device := slices.Contains(devices, m.point)
		inside := slices.ContainsFunc(given, func(path string) bool {
			return m.point == path || strings.HasPrefix(m.point, path+"/")
		})
		working := work && m.point == WorkFolder
		if m.point != "/" && m.point != "/tmp" && !device && !inside && !working {
			return fmt.Errorf("mount at %s: not given", m.point)
		}
		required := map[string]bool{"nosuid": true, "ro": m.point != "/tmp" && !working, "nodev": !device,
			"noexec": device || working}
		for option, needed := range required {
			if needed && !slices.Contains(m.options, option) {
				return fmt.Errorf("mount at %s: without %s", m.point, option)
			}
		}
	}
	if !seen["/"] || !seen["/tmp"] || work && !seen[WorkFolder] {
		return fmt.Errorf("mounts: no root, no /tmp or no work folder")
	}
	return nil
}

var devices = []string{"/dev/null", "/dev/zero", "/dev/urandom"}
