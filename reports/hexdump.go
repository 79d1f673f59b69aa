package reports

import (
	"fmt"
	"strings"
)

// hexDump is bytes in hex and text, 16 a line, numbered from offset.
func hexDump(content []byte, offset int64) string {
	var out strings.Builder
	for at := 0; at < len(content); at += 16 {
		line := content[at:min(at+16, len(content))]
		fmt.Fprintf(&out, "%08x  %-47s  %s\n", offset+int64(at), hexBytes(line), printable(line))
	}
	return out.String()
}

func hexBytes(line []byte) string {
	pairs := make([]string, 0, len(line))
	for _, b := range line {
		pairs = append(pairs, fmt.Sprintf("%02x", b))
	}
	return strings.Join(pairs, " ")
}

// printable is bytes as text, a dot for each that is not printable ASCII.
func printable(line []byte) string {
	text := make([]byte, 0, len(line))
	for _, b := range line {
		if b < ' ' || b > '~' {
			b = '.'
		}
		text = append(text, b)
	}
	return string(text)
}

// streamDump is the two ends of a stream.
type streamDump struct {
	Name, Size  string
	First, Last string
	Omitted     int64 // bytes between them
}

func dumpStream(s Stream) streamDump {
	d := streamDump{Name: s.Name, Size: fmt.Sprintf("%d bytes", s.Bytes), First: hexDump(s.First, 0)}
	d.Omitted = s.Bytes - int64(len(s.First)) - int64(len(s.Last))
	d.Last = hexDump(s.Last, s.Bytes-int64(len(s.Last)))
	return d
}
