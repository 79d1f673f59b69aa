package jail

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Reason says why a domain was refused (C-15).
type Reason string

// The closed list of reasons.
const (
	ReasonPlatform   Reason = "platform"   // the kernel lacks a feature
	ReasonPolicy     Reason = "policy"     // rights, rules or limits of this host
	ReasonDescriptor Reason = "descriptor" // descriptor plumbing is unavailable
)

// RefusedError reports that the boundary could not be built or attested.
// Nothing of the customer has run.
//
// Rules: R02, C-15.
type RefusedError struct {
	Reason Reason
	Err    error
}

func (e *RefusedError) Error() string {
	return "isolation unavailable (" + string(e.Reason) + "): " + e.Err.Error()
}

func (e *RefusedError) Unwrap() error { return e.Err }

// refuse wraps err unless it is a refusal already.
func refuse(reason Reason, err error) error {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return err
	}
	return &RefusedError{Reason: reason, Err: err}
}

// refuseErrno wraps err with the reason that its errno stands for.
func refuseErrno(err error) error {
	return refuse(reasonOf(err), err)
}

// reasonOf maps an errno to a reason; what is not known is policy.
func reasonOf(err error) Reason {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return ReasonPolicy
	}
	switch errno {
	case unix.EMFILE, unix.ENFILE, unix.EBADF:
		return ReasonDescriptor
	case unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.ENODEV, unix.E2BIG:
		return ReasonPlatform
	}
	return ReasonPolicy
}
