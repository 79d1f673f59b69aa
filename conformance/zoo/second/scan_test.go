package second

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const report = `{"engine":"osprey","kind":"backtest","bars":3,"net":-1.50e+1,"fills":[{"n":1,"at":[0,null,true,false]},{"n":2}],` +
	`"note":"\u20ac \ud83c\udf32 é漢🌲 \"\\\/\b"}` + "\n"

// document is bytes and the size of the pieces in which they are fed.
type document struct {
	bytes []byte
	piece int
}

var probe = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "second-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "scan_probe")
	arguments := []string{"-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		"-DSCAN_KEYS=4096", "-Wall", "-Wextra", "-Werror", "-Isrc", "-o", path, "testdata/scan_probe.c"}
	for _, name := range []string{"scan", "scan_string", "scan_keys", "shape", "catalog"} {
		arguments = append(arguments, "src/"+name+".c")
	}
	out, err := exec.Command("gcc", arguments...).CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: "gcc: " + string(out), Err: err}
	}
	return path, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := probe(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // a remnant in the temporary folder harms nobody
	}
	os.Exit(status)
}

// judge asks the launcher's scanner about each document: R, C, M or P.
func judge(t *testing.T, documents []document) string {
	t.Helper()
	path, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	for _, d := range documents {
		head := binary.NativeEndian.AppendUint32(nil, uint32(len(d.bytes)))
		in.Write(append(binary.NativeEndian.AppendUint32(head, uint32(d.piece)), d.bytes...))
	}
	command := exec.Command(path)
	var stderr strings.Builder
	command.Stdin, command.Stderr = &in, &stderr
	out, err := command.Output()
	if err != nil || len(out) != len(documents) {
		t.Fatalf("scan_probe: %v, %d answers for %d documents: %s", err, len(out), len(documents), stderr.String())
	}
	return string(out)
}

// strict says whether another strict reader takes the bytes for one object and
// one LF, with nothing around or between that the contract forbids.
func strict(document []byte) bool {
	body, found := bytes.CutSuffix(document, []byte("\n"))
	if !found || !bytes.HasPrefix(body, []byte("{")) || !bytes.HasSuffix(body, []byte("}")) {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if err := d.SkipValue(); err != nil {
		return false
	}
	_, err := d.ReadToken()
	return err == io.EOF
}

func TestKnownDocuments(t *testing.T) {
	claim := `{"engine":"osprey","error":"e","code":"run_producer_failed","args":{"reason":"exit","exit_status":3}}` + "\n"
	cases := []struct{ text, want string }{
		{report, "R"}, {claim, "C"}, {`{"error":"old"}` + "\n", "C"}, {"", "P"}, {"{", "P"}, {report[:40], "P"},
		{strings.TrimSuffix(report, "\n"), "P"}, {report + "\n", "M"}, {report + "x", "M"}, {" " + report, "M"},
		{"\ufeff" + report, "M"}, {"[]\n", "M"}, {"{}\n", "M"}, {strings.Replace(report, "\n", "\r\n", 1), "M"},
		{strings.Replace(report, `"net"`, `"bars"`, 1), "M"}, {strings.Replace(report, `"net"`, `"\u0062ars"`, 1), "M"},
		{strings.Replace(report, `"n":2`, `"n":2,"n":2`, 1), "M"}, {strings.Replace(report, "osprey", "heron", 1), "M"},
		{strings.Replace(claim, "exit_status", "status", 1), "M"}, {strings.Replace(claim, `"exit"`, `"gone"`, 1), "M"},
		{strings.Replace(claim, ":3", `:"3"`, 1), "M"}, {strings.Replace(claim, "producer", "consumer", 1), "M"},
		{strings.Replace(claim, `,"args":{"reason":"exit","exit_status":3}`, "", 1), "M"},
	}
	for _, piece := range []int{1, 3, 4096} {
		var documents []document
		for _, c := range cases {
			documents = append(documents, document{[]byte(c.text), piece})
		}
		got := judge(t, documents)
		for i, c := range cases {
			if got[i:i+1] != c.want {
				t.Errorf("pieces of %d: %q: got %c, want %s", piece, c.text, got[i], c.want)
			}
		}
	}
}

// Any change of a good report is taken exactly where a strict reader takes it;
// of those it takes, some have a wrong shape, none is worse than that.
func TestChangedDocuments(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var documents []document
	for range 3000 {
		documents = append(documents, document{change(random, []byte(report)), 1 + random.IntN(9)})
	}
	taken := 0
	for i, verdict := range judge(t, documents) {
		d := documents[i]
		if strict(d.bytes) && (verdict == 'P') {
			t.Fatalf("%q: got %c for a document that another reader takes", d.bytes, verdict)
		}
		if !strict(d.bytes) && (verdict == 'R' || verdict == 'C') {
			t.Fatalf("%q: got %c for a document that another reader refuses", d.bytes, verdict)
		}
		if verdict == 'R' {
			taken++
		}
	}
	if taken < 100 {
		t.Errorf("only %d of %d changed documents are still reports: the changes are too rough to say anything", taken, len(documents))
	}
}

// Inside the array, where the shape asks for nothing, the two readers agree exactly.
func TestAgreementInsideValue(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	start, end := strings.Index(report, `"fills":[`)+len(`"fills":[`), strings.Index(report, `],"note"`)
	var documents []document
	for range 3000 {
		inside := change(random, []byte(report[start:end]))
		documents = append(documents, document{[]byte(report[:start] + string(inside) + report[end:]), 1 + random.IntN(9)})
	}
	for i, verdict := range judge(t, documents) {
		escaped := bytes.ContainsAny(documents[i].bytes[start:], "]}") && !strict(documents[i].bytes)
		if (verdict == 'R') != strict(documents[i].bytes) && !escaped && bytes.Count(documents[i].bytes, []byte(`"note"`)) == 1 {
			t.Fatalf("%q: got %c, the other reader says %v", documents[i].bytes, verdict, strict(documents[i].bytes))
		}
	}
}

func change(random *rand.Rand, text []byte) []byte {
	alphabet := "{}[]:,\"\\0123456789-+.eEtrufalsn \n\x00\x1f\x7f\x80\xbf\xc2\xe2\xed\xf0\xf4\xff"
	for range 1 + random.IntN(3) {
		at := random.IntN(len(text))
		letter := alphabet[random.IntN(len(alphabet))]
		switch random.IntN(4) {
		case 0:
			text = append(text[:at:at], text[at+1:]...)
		case 1:
			text = append(text[:at:at], append([]byte{letter}, text[at:]...)...)
		case 2:
			text = append(text[:at:at], append([]byte{letter}, text[at+1:]...)...)
		case 3:
			other := at + random.IntN(min(8, len(text)-at))
			text = append(text[:other:other], append(bytes.Clone(text[at:other]), text[other:]...)...)
		}
		if len(text) == 0 {
			return []byte("{")
		}
	}
	return text
}
