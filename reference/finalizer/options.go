package finalizer

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
)

// maxCap is the largest --max-bytes, inclusive: the probe byte must be
// countable too.
const maxCap = 1<<53 - 2

const usage = "usage: reffinal {--out PATH|--out-fd N|--out -} [--max-bytes B] [--receipt-fd N] <sink"

// Options are the finalizer's command line.
type Options struct {
	Path      string // caller's target; empty for the other two
	Stream    bool   // to stdout
	OutFD     int    // inherited target, or -1
	Capped    bool
	CapBytes  int64 // inclusive; 0 allows no byte
	ReceiptFD int
}

// ParseOptions reads the arguments behind the program's name. On error the
// options still say where the receipt goes.
//
// A number is decimal digits only, --max-bytes at most 2^53-2. Stream mode
// needs a positive --max-bytes; the others may omit it, and 0 there is a cap of
// no bytes. The receipt's default is stdout, or stderr where stdout is or could
// be the stream.
//
// Rules: R08, C-76, T31.
func ParseOptions(args []string) (Options, error) {
	given, err := readFlags(args)
	o := Options{OutFD: -1, ReceiptFD: 1, Path: given["out"]}
	if o.Stream = o.Path == "-"; o.Stream {
		o.Path = ""
	}
	if err != nil || o.Stream {
		o.ReceiptFD = 2
	}
	return o, errors.Join(err, o.readReceiptFD(given), o.readTarget(given), o.readCap(given))
}

// readFlags returns the flags as given; each may be given once.
func readFlags(args []string) (map[string]string, error) {
	given := map[string]string{}
	flags := flag.NewFlagSet("reffinal", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	for _, name := range []string{"out", "out-fd", "max-bytes", "receipt-fd"} {
		flags.Func(name, "", func(value string) error {
			if _, again := given[name]; again {
				return errors.New("given twice")
			}
			given[name] = value
			return nil
		})
	}
	if err := flags.Parse(args); err != nil {
		return given, fmt.Errorf("read arguments: %w", err)
	}
	if flags.NArg() > 0 {
		return given, fmt.Errorf("read arguments: %q is none", flags.Arg(0))
	}
	return given, nil
}

func (o *Options) readReceiptFD(given map[string]string) error {
	text, found := given["receipt-fd"]
	if !found {
		return nil
	}
	n, err := decimal(text, 1<<31-1)
	if err != nil || n == 0 || o.Stream && n == 1 {
		return fmt.Errorf("read --receipt-fd: %q is no descriptor for it", text)
	}
	o.ReceiptFD = int(n)
	return nil
}

func (o *Options) readTarget(given map[string]string) error {
	_, named := given["out"]
	text, inherited := given["out-fd"]
	if named == inherited {
		return errors.New("read target: exactly one of --out and --out-fd")
	}
	if inherited {
		n, err := decimal(text, 1<<31-1)
		if err != nil || n < 3 || int(n) == o.ReceiptFD {
			return fmt.Errorf("read --out-fd: %q is no descriptor for it", text)
		}
		o.OutFD = int(n)
		return nil
	}
	if base := filepath.Base(o.Path); !o.Stream && (o.Path == "" || o.Path[len(o.Path)-1] == '/' || base == "." || base == "..") {
		return fmt.Errorf("read --out: %q names no file", o.Path)
	}
	return nil
}

func (o *Options) readCap(given map[string]string) error {
	text, found := given["max-bytes"]
	if found {
		n, err := decimal(text, maxCap)
		if err != nil {
			return fmt.Errorf("read --max-bytes: %w", err)
		}
		o.Capped, o.CapBytes = true, n
	}
	if o.Stream && o.CapBytes == 0 {
		return errors.New("read --max-bytes: --out - needs a positive one")
	}
	return nil
}

// decimal reads digits, 0 to most inclusive.
func decimal(text string, most int64) (int64, error) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, fmt.Errorf("%q is not decimal", text)
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%q is not in 0..%d", text, most)
	}
	return n, nil
}
