package jail

import (
	"fmt"
	"os"
	"sync"

	seccomp "github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

// creationCalls are notified to S and refused (R18).
var creationCalls = []string{"fork", "vfork", "clone", "clone3"}

// deniedCalls answer EPERM. Each could hide a creation call from S, make a
// task without one, reach outside the domain, or gain a way to do so.
var deniedCalls = []string{
	// own filters shadow the listener; a tracer receives S's wait results
	"seccomp", "ptrace",
	// namespaces, mounts, roots
	"unshare", "setns", "mount", "umount2", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
	"mount_setattr", "chroot", "pivot_root",
	// kernel threads in the producer without clone, zero-copy pages that change after hashing
	"io_uring_setup", "io_uring_enter", "io_uring_register", "vmsplice", "splice", "tee",
	// objects that are not namespaced
	"keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "fanotify_init", "fanotify_mark",
	"open_by_handle_at", "name_to_handle_at", "memfd_secret",
	// other processes
	"process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_open",
	"pidfd_getfd", "pidfd_send_signal", "move_pages", "migrate_pages", "set_mempolicy", "mbind",
	// sockets: some families ignore the network namespace
	"socket", "socketpair", "connect", "bind",
	// limits, and what needs a capability anyway
	"setrlimit", "modify_ldt", "iopl", "ioperm", "swapon", "swapoff", "acct", "quotactl", "syslog", "reboot",
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "lookup_dcookie", "vhangup",
}

// deniedNumbers are denied calls younger than libseccomp 2.5; from 424 on a
// number means the same call on every architecture.
var deniedNumbers = []seccomp.ScmpSyscall{
	unix.SYS_QUOTACTL_FD, unix.SYS_SET_MEMPOLICY_HOME_NODE, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_LISTNS,
}

// deniedForms are calls denied for some arguments only. The kernel looks at
// 32 bits of a command, so high bits must not hide one.
var deniedForms = []struct {
	call     string
	argument uint
	compare  seccomp.ScmpCompareOp
	values   []uint64
}{
	{"prctl", 0, seccomp.CompareMaskedEqual, []uint64{low32, unix.PR_SET_SECCOMP}},
	{"fcntl", 1, seccomp.CompareMaskedEqual, []uint64{low32, unix.F_SETPIPE_SZ}},
	{"ioctl", 1, seccomp.CompareMaskedEqual, []uint64{low32, unix.TIOCSTI}},
	{"ioctl", 1, seccomp.CompareMaskedEqual, []uint64{low32, unix.TIOCLINUX}},
	{"ioctl", 1, seccomp.CompareMaskedEqual, []uint64{low32, unix.TIOCCONS}},
	{"personality", 0, seccomp.CompareNotEqual, []uint64{low32}}, // the query
	{"prlimit64", 2, seccomp.CompareNotEqual, []uint64{0}},       // no new limit
}

const low32 = 0xffffffff

// filterProgram returns the producer's filter as raw BPF, built once.
var filterProgram = sync.OnceValues(func() ([]byte, error) {
	filter, err := newFilter()
	if err != nil {
		return nil, fmt.Errorf("build filter: %w", err)
	}
	defer filter.Release()
	fd, err := unix.MemfdCreate("filter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create filter memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "filter")
	defer file.Close()
	if err := filter.ExportBPF(file); err != nil {
		return nil, fmt.Errorf("export filter: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("stat filter: %w", err)
	}
	program := make([]byte, st.Size)
	if _, err := file.ReadAt(program, 0); err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	return program, nil
})

// newFilter builds the rules: a call of any other ABI (i386, x32) is notified
// whatever it is, so that S can name it (C-63); all else is allowed.
func newFilter() (*seccomp.ScmpFilter, error) {
	filter, err := seccomp.NewFilter(seccomp.ActAllow)
	if err != nil {
		return nil, err
	}
	if err := addRules(filter); err != nil {
		filter.Release()
		return nil, err
	}
	return filter, nil
}

func addRules(filter *seccomp.ScmpFilter) error {
	if err := filter.SetBadArchAction(seccomp.ActNotify); err != nil {
		return fmt.Errorf("notify foreign calls: %w", err)
	}
	deny := seccomp.ActErrno.SetReturnCode(int16(unix.EPERM))
	for _, name := range creationCalls {
		if err := addNamed(filter, name, seccomp.ActNotify); err != nil {
			return err
		}
	}
	for _, name := range deniedCalls {
		if err := addNamed(filter, name, deny); err != nil {
			return err
		}
	}
	for _, number := range deniedNumbers {
		if err := filter.AddRuleExact(number, deny); err != nil {
			return fmt.Errorf("deny call %d: %w", number, err)
		}
	}
	for _, form := range deniedForms {
		condition, err := seccomp.MakeCondition(form.argument, form.compare, form.values...)
		if err != nil {
			return fmt.Errorf("condition of %s: %w", form.call, err)
		}
		if err := addNamed(filter, form.call, deny, condition); err != nil {
			return err
		}
	}
	return nil
}

func addNamed(filter *seccomp.ScmpFilter, name string, action seccomp.ScmpAction, conditions ...seccomp.ScmpCondition) error {
	number, err := seccomp.GetSyscallFromName(name)
	if err != nil {
		return fmt.Errorf("number of %s: %w", name, err)
	}
	if len(conditions) == 0 {
		err = filter.AddRuleExact(number, action)
	} else {
		err = filter.AddRuleConditionalExact(number, action, conditions)
	}
	if err != nil {
		return fmt.Errorf("rule for %s: %w", name, err)
	}
	return nil
}
