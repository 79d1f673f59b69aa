package reports

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium that is spoken to over two pipes.
type browser struct {
	t       *testing.T
	command *exec.Cmd
	out     *os.File // commands
	in      *os.File // answers and events, each ended by NUL
	pending []byte
	session string
	number  int
	errors  []string // of the console and of scripts
}

// startBrowser opens a page, or says why no browser test can run here.
func startBrowser(t *testing.T, url string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("not run: needs Chromium (apt-get install chromium): " + err.Error())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	fromTest, toBrowser := pipe(t)
	fromBrowser, toTest := pipe(t)
	b := &browser{t: t, out: toBrowser, in: fromBrowser}
	b.command = exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
		"--no-first-run", "--user-data-dir="+t.TempDir(), "--window-size=1200,1000", "about:blank")
	b.command.ExtraFiles = []*os.File{fromTest, toTest}
	b.command.Stdout = new(bytes.Buffer) // a pipe that its children hold too: Wait waits for them
	if err := b.command.Start(); err != nil {
		t.Fatal(err)
	}
	fromTest.Close()
	toTest.Close()
	t.Cleanup(b.stop)
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})["targetId"]
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil)
	}
	b.call("Page.navigate", map[string]any{"url": url})
	b.until("Page.loadEventFired")
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

func (b *browser) stop() {
	_ = b.command.Process.Kill() // it may have ended
	_ = b.command.Wait()         // by that signal
	b.in.Close()
	b.out.Close()
}

// message is an answer or an event.
type message struct {
	ID     int            `json:"id"`
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
	Result map[string]any `json:"result"`
	Error  any            `json:"error"`
}

func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.number++
	request := map[string]any{"id": b.number, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.next()
		if m.ID == b.number {
			if m.Error != nil {
				b.t.Fatalf("%s: %v", method, m.Error)
			}
			return m.Result
		}
	}
}

func (b *browser) until(method string) {
	b.t.Helper()
	for b.next().Method != method {
	}
}

// next reads one message and keeps what the console or a script complained of.
func (b *browser) next() message {
	b.t.Helper()
	for {
		if text, rest, found := bytes.Cut(b.pending, []byte{0}); found {
			b.pending = rest
			var m message
			if err := json.Unmarshal(text, &m); err != nil {
				b.t.Fatal(err)
			}
			switch m.Method {
			case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
				b.errors = append(b.errors, fmt.Sprint(m.Params))
			}
			return m
		}
		chunk := make([]byte, 1<<16)
		n, err := b.in.Read(chunk)
		if err != nil {
			b.t.Fatalf("the browser is gone: %v", err)
		}
		b.pending = append(b.pending, chunk[:n]...)
	}
}

// value is what an expression gives in the page.
func (b *browser) value(expression string) any {
	b.t.Helper()
	result := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if thrown := result["exceptionDetails"]; thrown != nil {
		b.t.Fatalf("%s: %v", expression, thrown)
	}
	return result["result"].(map[string]any)["value"]
}

// busy is the processor time that the page's thread has had.
func (b *browser) busy() time.Duration {
	b.t.Helper()
	for _, m := range b.call("Performance.getMetrics", nil)["metrics"].([]any) {
		if metric := m.(map[string]any); metric["name"] == "TaskDuration" {
			return time.Duration(metric["value"].(float64) * float64(time.Second))
		}
	}
	b.t.Fatal("the browser has no metric TaskDuration")
	return 0
}

// picture writes what is seen, where TOUCHSTONE_PICTURES names a folder.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("TOUCHSTONE_PICTURES")
	if dir == "" {
		return
	}
	content, err := base64.StdEncoding.DecodeString(b.call("Page.captureScreenshot", nil)["data"].(string))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), content, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// visible counts the elements of a selector that are shown.
func (b *browser) visible(selector string) int {
	b.t.Helper()
	return int(b.value(fmt.Sprintf("[...document.querySelectorAll(%q)].filter(e => !e.hidden).length", selector)).(float64))
}

func (b *browser) search(words string) {
	b.value(fmt.Sprintf(`{const s = document.getElementById("search"); s.value = %q; s.dispatchEvent(new Event("input")); 1}`, words))
}

func pageFile(t *testing.T, p Page) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), PageFile)
	var out bytes.Buffer
	if err := WriteHTML(&out, p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPageInBrowser(t *testing.T) {
	p := Page{Report: sample("<b>naïve</b> \x00\xff </script>"), Exhibits: []Exhibit{exhibited("x")}}
	p.Assertions[1].Findings[0].Attempt = "attempts/x"
	b := startBrowser(t, "file://"+pageFile(t, p))
	b.picture("top")
	if got, want := b.visible(".rows tr"), len(p.Assertions); got != want {
		t.Errorf("%d assertions are shown, want %d", got, want)
	}
	b.search("t14.02 JAILED")
	if got := b.visible(".rows tr"); got != 1 {
		t.Errorf("a search for one assertion shows %d", got)
	}
	if got := b.value(`document.getElementById("shown").textContent`); got != fmt.Sprintf("1 of %d assertions", len(p.Assertions)) {
		t.Errorf("the count says %q", got)
	}
	b.search("nothing has these words")
	if got := b.visible("[data-v]"); got != 0 {
		t.Errorf("a search for nothing shows %d", got)
	}
	b.search("")
	b.value(`{const box = document.querySelector("input[value=pass]"); box.checked = false; box.dispatchEvent(new Event("change")); 1}`)
	if got, want := b.visible(".rows tr"), len(p.Assertions)-1; got != want {
		t.Errorf("without passes %d are shown, want %d", got, want)
	}
	b.value(`location.hash = "` + anchor("attempts/x") + `"; new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))`)
	if open := b.value(`document.getElementById("` + anchor("attempts/x") + `").open`); open != true {
		t.Error("a link to an attempt does not open it")
	}
	b.picture("attempt")
	if got := b.value(`document.querySelector("script").textContent.length`); got != float64(len(pageScript)) {
		t.Errorf("a script of %v characters, want ours of %d", got, len(pageScript))
	}
	if len(b.errors) > 0 {
		t.Errorf("the console says %s", strings.Join(b.errors, "\n"))
	}
}

// TestBigPageOpensAtOnce: 10,000 assertions within 2 s and 10 MiB.
func TestBigPageOpensAtOnce(t *testing.T) {
	path := pageFile(t, bigPage(10_000))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > 10<<20 {
		t.Errorf("%d bytes, want at most 10 MiB", info.Size())
	}
	b := startBrowser(t, "about:blank")
	b.call("Performance.enable", map[string]any{"timeDomain": "threadTicks"})
	started, before := time.Now(), b.busy()
	b.call("Page.navigate", map[string]any{"url": "file://" + path})
	b.until("Page.loadEventFired")
	b.value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")
	took, busy := time.Since(started), b.busy()-before
	t.Logf("opened in %v, %v of it at work", took, busy)
	if busy > 2*time.Second { // what other programs take of the machine is not the page's doing
		t.Errorf("%v of work to open it, want at most 2 s", busy)
	}
	started = time.Now()
	b.search("T7.10 jailed")
	t.Logf("searched in %v", time.Since(started))
	if got := b.visible(".rows tr"); got == 0 || got > 20 {
		t.Errorf("a search shows %d", got)
	}
	b.picture("big")
}
