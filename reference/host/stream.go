package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"

	"golang.org/x/sys/unix"
)

// chunkBytes is the most that one read takes.
const chunkBytes = 65536

// stream is the host's end of one data channel. It counts and hashes what
// comes, and keeps it in a provisional file if there is one. It owns both
// descriptors.
type stream struct {
	fd    int // -1: ended, or no longer read
	file  int // -1: nothing is kept
	cap   int64
	bytes int64
	hash  hash.Hash
	ended bool
	over  bool  // a byte beyond the cap has come
	lost  error // why bytes could not be kept
}

func newStream(fd int, cap int64) *stream {
	return &stream{fd: fd, file: -1, cap: cap, hash: sha256.New()}
}

// take reads once. Of what exceeds the cap one byte is read, as evidence, and
// no more: S must not send it, so nothing about it is trusted to end.
//
// Rules: R14.
func (s *stream) take(buffer []byte) error {
	n, err := unix.Read(s.fd, buffer[:min(int64(len(buffer)), s.cap-s.bytes+1)])
	switch {
	case err != nil && later(err):
		return nil
	case err != nil: // a reset socket or the like: an end that is none
		return errors.Join(fmt.Errorf("read channel: %w", err), shut(&s.fd))
	case n == 0:
		s.ended = true
		return shut(&s.fd)
	}
	s.bytes += int64(n)
	_, _ = s.hash.Write(buffer[:n]) // never fails
	if s.file >= 0 && s.lost == nil {
		s.lost = writeAll(s.file, buffer[:n])
	}
	if s.bytes > s.cap {
		s.over = true
		return shut(&s.fd)
	}
	return nil
}

// seen is what the verification is told.
func (s *stream) seen() Stream {
	if s == nil {
		return Stream{}
	}
	return Stream{Offered: true, Bytes: s.bytes, SHA256: hex.EncodeToString(s.hash.Sum(nil)), Ended: s.ended, Over: s.over,
		Lost: s.lost != nil}
}

// keep makes what was kept last, and closes the file.
func (s *stream) keep() error {
	if s == nil || s.file < 0 {
		return nil
	}
	err := s.lost
	if err == nil {
		err = unix.Fsync(s.file)
	}
	return errors.Join(err, shut(&s.file))
}

func (s *stream) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(shut(&s.fd), shut(&s.file))
}
