package jail

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// attestDescriptors wants exactly the given descriptors: each the same
// object, opened the same way, at its exact number; besides only the control
// socket, which exec closes.
func (d *Domain) attestDescriptors() error {
	want := append(d.spec.producerNumbers(), d.spec.control())
	slices.Sort(want)
	have, err := descriptorNumbers(d.proc("fd"))
	if err != nil {
		return err
	}
	if !slices.Equal(have, want) {
		return fmt.Errorf("numbers are %v, want %v", have, want)
	}
	for number, own := range d.spec.FDs {
		if err := d.sameObject(number, own); err != nil {
			return fmt.Errorf("number %d: %w", number, err)
		}
	}
	link, err := os.Readlink(d.proc("fd/" + strconv.Itoa(d.spec.control())))
	if err == nil && !strings.HasPrefix(link, "socket:") {
		err = fmt.Errorf("control is %s", link)
	}
	return err
}

func descriptorNumbers(folder string) ([]int, error) {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", folder, err)
	}
	open, err := names(fd)
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	var numbers []int
	for _, name := range open {
		number, err := strconv.Atoi(name)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (d *Domain) sameObject(number, own int) error {
	var have, want unix.Stat_t
	if err := unix.Stat(d.proc("fd/"+strconv.Itoa(number)), &have); err != nil {
		return err
	}
	if err := unix.Fstat(own, &want); err != nil {
		return err
	}
	if have.Dev != want.Dev || have.Ino != want.Ino || have.Rdev != want.Rdev {
		return fmt.Errorf("object %d:%d, want %d:%d", have.Dev, have.Ino, want.Dev, want.Ino)
	}
	haveFlags, err := openFlags(d.proc("fdinfo/" + strconv.Itoa(number)))
	if err != nil {
		return err
	}
	wantFlags, err := unix.FcntlInt(uintptr(own), unix.F_GETFL, 0) // without close-on-exec
	if err != nil {
		return fmt.Errorf("own flags: %w", err)
	}
	if haveFlags != uint64(wantFlags) {
		return fmt.Errorf("open flags %#o, want %#o", haveFlags, wantFlags)
	}
	return nil
}

// openFlags reads the flags of a descriptor, close-on-exec included.
func openFlags(path string) (uint64, error) {
	info, err := readStatus(path)
	if err != nil {
		return 0, err
	}
	flags, _ := info.field("flags")
	return strconv.ParseUint(flags, 8, 64)
}
