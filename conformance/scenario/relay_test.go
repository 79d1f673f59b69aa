package scenario

import "testing"

func TestRelayWordsAreRefused(t *testing.T) {
	for _, words := range [][]string{
		{"run"}, {""}, {"set"}, {"set.=1"}, {"set.a"}, {"set.a=x"}, {"drop.a=1"}, {"pad=0"}, {"pad=x"}, {"cut=-1"}, {"copies=9"}, {"exit=256"},
		{"delay=soon"}, {"delay=-1s"}, {"empty=1"}, {"held=1"}, {"held=terminal"}, {"kill=later"}, {"kill=terminal:3"}, {"kill=report:x"}, {"kill=packet", "stop=sent"},
		{"copies=1", "copies=2"}, {"set.a=1", "set.a=2"},
	} {
		if r, err := ParseRelay(words); err == nil {
			t.Errorf("%q: accepted as %+v", words, r)
		}
	}
}

func TestRelayWordsAreRead(t *testing.T) {
	r, err := ParseRelay([]string{`set.a.b={"c":1}`, "drop.d", "copies=0", "exit=0", "kill=report:5", "held"})
	if err != nil || len(r.Edits) != 2 || r.Edits[0].Raw != `{"c":1}` || r.Edits[0].Path[1] != "b" || r.Copies != 0 || r.Status == nil ||
		*r.Status != 0 || r.Deed != DoKill || r.Channel != ChannelReport || r.Bytes != 5 || r.Held != ChannelTerminal {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := ParseRelay([]string{"held=sink"}); err != nil || r.Held != ChannelSink {
		t.Errorf("held: %+v, %v", r, err)
	}
	if r, err := ParseRelay(nil); err != nil || r.Copies != 1 || r.Deed != "" {
		t.Errorf("honest: %+v, %v", r, err)
	}
}

func FuzzParseRelay(f *testing.F) {
	f.Add("set.a=1")
	f.Add("kill=report:5")
	f.Fuzz(func(t *testing.T, word string) {
		r, err := ParseRelay([]string{word})
		if err == nil && (r.Copies < 0 || r.Pad < 0 || r.Cut < 0) {
			t.Errorf("%q: %+v", word, r)
		}
	})
}
