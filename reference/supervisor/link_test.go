package supervisor

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"touchstone/reference/outcome"
)

func TestMessagesComeBack(t *testing.T) {
	for _, m := range []message{
		{Word: sayReserved},
		{Word: saySettled, Settlement: outcome.Successful},
		{Word: saySettled, Settlement: outcome.Claimed, Omitted: true},
		{Word: saySettled, Settlement: outcome.Claimed, Code: "pine_runtime_limit", Args: jsontext.Value(`{"limit":"a b  c"}`)},
	} {
		got, err := decodeMessage(string(m.encode()))
		if err != nil || got.Word != m.Word || got.Settlement != m.Settlement || got.Omitted != m.Omitted ||
			got.Code != m.Code || string(got.Args) != string(m.Args) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, m)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("reserved 0 false  ")
	f.Add("settled 2 false code {\"a\":1}")
	f.Add("settled 256 false  ")
	f.Fuzz(func(t *testing.T, packet string) {
		m, err := decodeMessage(packet)
		if err != nil {
			return
		}
		again, err := decodeMessage(string(m.encode()))
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("%q: %+v, then %+v, %v", packet, m, again, err)
		}
	})
}
