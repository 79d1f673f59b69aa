package jail

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFilterIsWhole(t *testing.T) {
	if n := len(filterProgram); n == 0 || n > 4096 {
		t.Errorf("program of %d instructions", n)
	}
}

func TestDecode(t *testing.T) {
	for _, test := range []struct {
		arch   uint32
		number int32
		op     string
		known  bool
	}{
		{unix.AUDIT_ARCH_X86_64, 57, "fork", true}, {unix.AUDIT_ARCH_X86_64, 58, "vfork", true},
		{unix.AUDIT_ARCH_X86_64, 56, "clone", true}, {unix.AUDIT_ARCH_X86_64, 435, "clone3", true},
		{unix.AUDIT_ARCH_X86_64, x32Bit | 57, "fork", true}, {unix.AUDIT_ARCH_X86_64, x32Bit | 435, "clone3", true},
		{unix.AUDIT_ARCH_I386, 2, "fork", true}, {unix.AUDIT_ARCH_I386, 190, "vfork", true},
		{unix.AUDIT_ARCH_I386, 120, "clone", true}, {unix.AUDIT_ARCH_I386, 435, "clone3", true},
		{unix.AUDIT_ARCH_I386, 57, "i386:57", false}, {unix.AUDIT_ARCH_X86_64, x32Bit | 39, "x32:39", false},
		{unix.AUDIT_ARCH_I386, 999999, "i386:999999", false},
	} {
		if op, known := decode(test.arch, test.number); op != test.op || known != test.known {
			t.Errorf("%v %d is %q %v, want %q %v", test.arch, test.number, op, known, test.op, test.known)
		}
	}
}

const (
	hybridMounts = `30 24 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
32 24 0:28 /docker/x /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
33 24 0:29 / /sys/fs/cgroup/with\040space rw - cgroup2 cgroup2 rw
`
	hybridOwn = "9:name=systemd:/\n8:pids:/docker/x/y\n4:memory:/a/b\n3:cpu,cpuacct:/\n2:freezer:/\n0::/u\n"
)

func TestHierarchies(t *testing.T) {
	folders := func(mounts, own string) []string {
		var list []string
		for _, h := range hierarchies(mounts, own) {
			list = append(list, h.folder)
		}
		return list
	}
	tests := map[string]struct {
		mounts, own string
		want        []string
	}{
		"hybrid": {hybridMounts, hybridOwn, []string{"/sys/fs/cgroup/pids/y", "/sys/fs/cgroup/memory/a/b"}},
		"hybrid without pids": {hybridMounts, strings.Replace(hybridOwn, "pids", "rdma", 1),
			[]string{"/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/with space/u"}},
		"unified":           {"1 0 0:1 / /cg rw - cgroup2 none rw\n", "0::/me\n", []string{"/cg/me"}},
		"none":              {"1 0 0:1 / / rw - ext4 disk rw\n", "0::/me\n", nil},
		"outside the mount": {"1 0 0:1 /other /cg rw - cgroup2 none rw\n", "0::/me\n", nil},
		"sibling prefix":    {"1 0 0:1 /me /cg rw - cgroup2 none rw\n", "0::/mean\n", nil},
		"above the view":    {"1 0 0:1 / /cg rw - cgroup2 none rw\n", "0::/../x\n", nil},
		"no file":           {hybridMounts, "", nil},
	}
	for name, test := range tests {
		if got := folders(test.mounts, test.own); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestCheckMounts(t *testing.T) {
	const good = `1 0 0:1 / / ro,nosuid,nodev - tmpfs scratch rw
2 1 0:2 / /tmp rw,nosuid,nodev - tmpfs scratch rw
3 1 0:3 /null /dev/null ro,nosuid,noexec - devtmpfs d rw
4 1 0:4 /usr /usr ro,nosuid,nodev - ext4 disk rw
5 4 0:5 / /usr/share/x ro,nosuid,nodev - ext4 disk rw
`
	if err := checkMounts(good, []string{"/usr"}, false); err != nil {
		t.Errorf("good mounts: %v", err)
	}
	for name, bad := range map[string]string{
		"writable root":   strings.Replace(good, "/ / ro", "/ / rw", 1),
		"suid in usr":     strings.Replace(good, "/usr /usr ro,nosuid,nodev", "/usr /usr ro,nodev", 1),
		"devices in tmp":  strings.Replace(good, "rw,nosuid,nodev", "rw,nosuid", 1),
		"proc":            good + "6 1 0:6 / /proc ro,nosuid,nodev,noexec - proc proc rw\n",
		"sibling of usr":  good + "6 1 0:6 / /usrlocal ro,nosuid,nodev - ext4 disk rw\n",
		"no tmp":          strings.Replace(good, "/ /tmp", "/ /usr/tmp", 1),
		"not a line":      good + "nonsense\n",
		"executable null": strings.Replace(good, "ro,nosuid,noexec", "ro,nosuid", 1),
	} {
		if bad == good {
			t.Fatalf("%s: the case changes nothing", name)
		}
		if err := checkMounts(bad, []string{"/usr"}, false); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	const work = "6 1 0:6 /a /touchstone-work rw,nosuid,nodev,noexec - ext4 disk rw\n"
	if err := checkMounts(good+work, []string{"/usr"}, true); err != nil {
		t.Errorf("work folder: %v", err)
	}
	for name, mounts := range map[string]string{"missing": good, "executable": good + strings.Replace(work, ",noexec", "", 1)} {
		if err := checkMounts(mounts, []string{"/usr"}, true); err == nil {
			t.Errorf("%s work folder: accepted", name)
		}
	}
	if err := checkMounts(good+work, []string{"/usr"}, false); err == nil {
		t.Error("work folder of a producer: accepted")
	}
}

func TestControlNumberAvoidsTheProducers(t *testing.T) {
	for want, fds := range map[int]map[int]int{3: {0: 0, 1: 1}, 4: {3: 0}, 6: {3: 0, 4: 0, 5: 0, 7: 0}} {
		if got := (&Spec{FDs: fds}).control(); got != want {
			t.Errorf("control beside %v is %d, want %d", fds, got, want)
		}
	}
}

func TestNamespacePID(t *testing.T) {
	for _, test := range []struct {
		have, own string
		good      bool
	}{
		{"500 2", "499", true}, {"500 1", "499", false}, {"500", "499", false}, {"501 2", "499", false},
		{"900 500 2", "899 499", false}, {"500 9 2", "499", false}, {"", "", false},
	} {
		if err := checkNamespacePID(test.have, test.own, 500); (err == nil) != test.good {
			t.Errorf("%q beside %q: %v", test.have, test.own, err)
		}
	}
}

// TestMessagesComeInAnyOrder: the launcher and the producer are not synchronised.
func TestMessagesComeInAnyOrder(t *testing.T) {
	for _, kinds := range []string{"iplr", "ilpr", "ilrp"} {
		d := &Domain{Init: Process{FD: -1}, Producer: Process{FD: -1}, Listener: -1}
		for i := range kinds {
			m := message{kind: kinds[i], value: 10 + i, fd: 100 + i} // numbers only: nothing is opened or closed
			if m.kind == sayReady {
				m.fd = -1
			}
			ready, err := d.take(m)
			if err != nil || ready != (i == len(kinds)-1) {
				t.Errorf("%s: after %d messages ready is %v, %v", kinds, i+1, ready, err)
			}
		}
		if want := 10 + strings.IndexByte(kinds, 'p'); d.Producer.PID != want {
			t.Errorf("%s: producer %d, want %d", kinds, d.Producer.PID, want)
		}
	}
	if _, err := (&Domain{parked: true}).take(message{kind: sayReady, fd: -1}); err == nil {
		t.Error("a second ready is accepted")
	}
}
