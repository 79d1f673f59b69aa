package supervisor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"touchstone/reference/jail"
)

// The worker's descriptors for what it measures.
const (
	workerSamples  = 4 // socket: one packet with what to sample
	workerMeasured = 5 // memory: what was measured
)

// measurement is one cell of the memory that the worker measures into. S reads
// it when everything else is over, so that it matters neither whether the
// worker is alive then nor what it is doing.
type measurement int

const (
	descriptorsPeak measurement = iota
	privatePeak                 // bytes
	workReserved                // bytes of backing, before the producer starts
	workLogical                 // bytes
	workAllocated               // bytes of backing
	workFiles
	measurements // how many there are
)

// measured is what S reads; nil is not measured.
type measured [measurements]*int64

// note is for the worker alone. A cell that cannot be written stays unknown.
func (m measurement) note(value int64) {
	cell := binary.NativeEndian.AppendUint64(nil, uint64(value)+1) // 0 is unknown
	_, _ = unix.Pwrite(workerMeasured, cell, 8*int64(m))
}

// noteReserved measures the retained files before anything is in them.
func noteReserved(files ...int) {
	if _, allocated, known := extents(files); known {
		workReserved.note(allocated)
	}
	noteWork(files...)
}

// noteWork measures the retained files.
func noteWork(files ...int) {
	logical, allocated, known := extents(files)
	if !known {
		return
	}
	workLogical.note(logical)
	workAllocated.note(allocated)
	workFiles.note(int64(len(files)))
}

// extents adds up lengths and backing, in bytes; unless all are known, the sum
// would be of something else.
func extents(files []int) (logical, allocated int64, known bool) {
	for _, fd := range files {
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) != nil {
			return 0, 0, false
		}
		logical, allocated = logical+stat.Size, allocated+stat.Blocks*512
	}
	return logical, allocated, true
}

// sampler is S's end: it owns what is open in it.
type sampler struct {
	samples, memory int
	opened          jail.Samples
}

// noSampler has nothing open.
var noSampler = sampler{samples: -1, memory: -1, opened: jail.Samples{Process: -1, Memory: -1}}

// newSampler returns S's end and the worker's, which the caller owns.
func newSampler() (s sampler, samples int, err error) {
	s = noSampler
	if s.memory, err = unix.MemfdCreate("measured", unix.MFD_CLOEXEC); err != nil {
		return s, -1, fmt.Errorf("create memory for measurements: %w", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return s, -1, fmt.Errorf("make socket for samples: %w", err)
	}
	s.samples = pair[0]
	return s, pair[1], nil
}

// open opens what is to be sampled of a parked producer.
func (s *sampler) open(d *jail.Domain) (err error) {
	if s.opened, err = d.Samples(); err != nil {
		return fmt.Errorf("open producer for samples: %w", err)
	}
	return nil
}

// begin has the worker sample the producer, which has been released. It is no
// failure of the attempt if that cannot be.
func (s *sampler) begin() {
	rights := []int{s.opened.Process}
	if s.opened.Memory >= 0 {
		rights = append(rights, s.opened.Memory)
	}
	_ = unix.Sendmsg(s.samples, []byte{0}, unix.UnixRights(rights...), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// read returns what was measured so far.
func (s *sampler) read() (m measured) {
	var cells [8 * measurements]byte
	if _, err := unix.Pread(s.memory, cells[:], 0); err != nil {
		return m
	}
	for i := range m {
		if value := binary.NativeEndian.Uint64(cells[8*i:]); value > 0 {
			m[i] = new(int64(value - 1))
		}
	}
	return m
}

func (s *sampler) close() error {
	return errors.Join(shut(&s.samples), shut(&s.memory), shut(&s.opened.Process), shut(&s.opened.Memory))
}

// Samples are taken at growing intervals: a short run has one, and a long one
// costs nothing that matters.
const (
	firstInterval = 4 * time.Millisecond
	lastInterval  = time.Second
)

// sample is the goroutine of the worker that samples the producer until that
// has ended. What it notes is a lower bound of each peak.
func sample() {
	samples, err := receiveSamples()
	if err != nil {
		return // S has ended, or goes on without
	}
	var descriptors, private int64
	for interval := firstInterval; ; interval = min(2*interval, lastInterval) {
		open, anonymous := samples.Take()
		if open == nil {
			return
		}
		descriptors = max(descriptors, *open)
		descriptorsPeak.note(descriptors)
		if anonymous != nil {
			private = max(private, *anonymous)
			privatePeak.note(private)
		}
		time.Sleep(interval) // a sample has no event to wait for
	}
}

func receiveSamples() (jail.Samples, error) {
	packet, ancillary := make([]byte, 1), make([]byte, unix.CmsgSpace(2*4))
	n, err := 0, error(unix.EINTR)
	var oob int
	for errors.Is(err, unix.EINTR) {
		n, oob, _, _, err = unix.Recvmsg(workerSamples, packet, ancillary, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil || n == 0 {
		return jail.Samples{}, errors.Join(err, errors.New("nothing to sample"))
	}
	headers, err := unix.ParseSocketControlMessage(ancillary[:oob])
	if err != nil || len(headers) == 0 {
		return jail.Samples{}, errors.Join(err, errors.New("nothing to sample"))
	}
	fds, err := unix.ParseUnixRights(&headers[0])
	switch {
	case err != nil:
		return jail.Samples{}, err
	case len(fds) == 1:
		return jail.Samples{Process: fds[0], Memory: -1}, nil
	}
	return jail.Samples{Process: fds[0], Memory: fds[1]}, nil
}
