package faultinject

import "sort"

// Shape says where a call keeps what rules ask about. Argument numbers count
// from 0; None means that the call has no such argument.
type Shape struct {
	FD      int    // descriptor that a rule's fd names
	Length  int    // byte count in a register
	Vector  int    // iovec array, with its count in the next argument
	Message int    // struct msghdr
	Batch   int    // struct mmsghdr array, with its count in the next argument
	Paths   [2]int // path arguments
}

// None marks an argument that a call does not have.
const None = -1

var shapeless = Shape{FD: None, Length: None, Vector: None, Message: None, Batch: None, Paths: [2]int{None, None}}

func fdOnly(fd int) Shape { s := shapeless; s.FD = fd; return s }

func sized(fd, length int) Shape { s := fdOnly(fd); s.Length = length; return s }

func vectored(fd, vector int) Shape { s := fdOnly(fd); s.Vector = vector; return s }

func message(arg int) Shape { s := fdOnly(0); s.Message = arg; return s }

func batch(arg int) Shape { s := fdOnly(0); s.Batch = arg; return s }

func paths(first, second int) Shape { s := shapeless; s.Paths = [2]int{first, second}; return s }

var shapes = map[string]Shape{
	"write": sized(0, 2), "pwrite64": sized(0, 2), "sendto": sized(0, 2), "sendfile": sized(0, 3),
	"splice": sized(2, 4), "tee": sized(1, 2), "copy_file_range": sized(2, 4),
	"writev": vectored(0, 1), "pwritev": vectored(0, 1), "pwritev2": vectored(0, 1), "vmsplice": vectored(0, 1),
	"sendmsg": message(1), "sendmmsg": batch(1),
	"read": sized(0, 2), "pread64": sized(0, 2), "recvfrom": sized(0, 2),
	"readv": vectored(0, 1), "preadv": vectored(0, 1), "preadv2": vectored(0, 1),
	"recvmsg": message(1), "recvmmsg": batch(1), "getdents64": sized(0, 2), "getrandom": sized(None, 1),
	"fsync": fdOnly(0), "fdatasync": fdOnly(0), "sync_file_range": fdOnly(0), "syncfs": fdOnly(0),
	"close": fdOnly(0), "ftruncate": fdOnly(0), "fallocate": fdOnly(0), "lseek": fdOnly(0), "fstat": fdOnly(0),
	"fchmod": fdOnly(0), "fchown": fdOnly(0), "ioctl": fdOnly(0), "fcntl": fdOnly(0), "flock": fdOnly(0),
	"dup": fdOnly(0), "dup2": fdOnly(0), "dup3": fdOnly(0), "connect": fdOnly(0), "accept": fdOnly(0),
	"accept4": fdOnly(0), "bind": fdOnly(0), "listen": fdOnly(0), "shutdown": fdOnly(0),
	"setsockopt": fdOnly(0), "getsockopt": fdOnly(0), "epoll_wait": fdOnly(0), "epoll_pwait": fdOnly(0),
	"epoll_pwait2": fdOnly(0), "epoll_ctl": fdOnly(2),
	"open": paths(0, None), "creat": paths(0, None), "openat": paths(1, None), "openat2": paths(1, None),
	"stat": paths(0, None), "lstat": paths(0, None), "newfstatat": paths(1, None), "statx": paths(1, None),
	"access": paths(0, None), "faccessat": paths(1, None), "faccessat2": paths(1, None),
	"unlink": paths(0, None), "unlinkat": paths(1, None), "rmdir": paths(0, None), "mkdir": paths(0, None),
	"mkdirat": paths(1, None), "truncate": paths(0, None), "chmod": paths(0, None), "chown": paths(0, None),
	"rename": paths(0, 1), "renameat": paths(1, 3), "renameat2": paths(1, 3), "link": paths(0, 1),
	"linkat": paths(1, 3), "symlink": paths(0, 1), "symlinkat": paths(0, 2),
	"execve": paths(0, None), "execveat": paths(1, None), "chdir": paths(0, None),
}

var classes = map[string][]string{
	"%write": {"write", "writev", "pwrite64", "pwritev", "pwritev2", "sendto", "sendmsg", "sendmmsg",
		"sendfile", "splice", "tee", "vmsplice", "copy_file_range"},
	"%read":   {"read", "readv", "pread64", "preadv", "preadv2", "recvfrom", "recvmsg", "recvmmsg"},
	"%sync":   {"fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync"},
	"%rename": {"rename", "renameat", "renameat2"},
	"%close":  {"close"},
	"%send":   {"sendto", "sendmsg", "sendmmsg"},
	"%recv":   {"recvfrom", "recvmsg", "recvmmsg"},
}

// ShapeOf returns the shape of a call; a call that is not listed has no
// descriptor, length or path that rules can use.
func ShapeOf(name string) Shape {
	if s, ok := shapes[name]; ok {
		return s
	}
	return shapeless
}

// Transfers tells whether the call moves a number of bytes that it returns.
func (s Shape) Transfers() bool {
	return s.Length != None || s.Vector != None || s.Message != None
}

// ClassNames returns the names of the classes, sorted.
func ClassNames() []string {
	out := make([]string, 0, len(classes))
	for name := range classes {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Expand returns the syscalls that a name or class stands for, or nil for an
// unknown one.
func Expand(word string) []string {
	if members, ok := classes[word]; ok {
		return members
	}
	if _, ok := SyscallNumber(word); ok {
		return []string{word}
	}
	return nil
}

// Syscalls returns the rule's syscalls, each once, in order of mention.
func (r Rule) Syscalls() []string {
	var out []string
	seen := map[string]bool{}
	for _, word := range r.Calls {
		for _, name := range Expand(word) {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}
