package producertest

import (
	"strings"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

// TestAlteredStreams: a sink in which any byte is changed, missing or too many
// is refused with one failure document, however its packet describes it.
func TestAlteredStreams(t *testing.T) {
	library := with(t, "write_every_tag", "", "trades=2", "points=2")
	parameters := gopter.DefaultTestParametersWithSeed(time.Now().UnixNano())
	parameters.MinSuccessfulTests = 60
	t.Logf("seed %d", parameters.Seed())
	properties := gopter.NewProperties(parameters)
	properties.Property("refused", prop.ForAll(func(place float64, kind int, value byte) bool {
		got := supervised{alter: func(stream []byte) []byte {
			at := int(place * float64(len(stream)))
			switch kind {
			case 0:
				return append(stream[:at:at], stream[at+1:]...)
			case 1:
				return append(append(stream[:at:at], value), stream[at:]...)
			case 2:
				return stream[:at]
			}
			stream[at] ^= value | 1
			return stream
		}}.run(t, library)
		return got.status == 1 && strings.Count(got.document, "\n") == 1 && strings.HasSuffix(got.document, "}\n") &&
			(strings.Contains(got.document, `"code":"report_sink_failed","args":{"reason":"sink_io"}`) ||
				strings.Contains(got.document, `"code":"report_result_invalid"`))
	}, gen.Float64Range(0, 0.999999), gen.IntRange(0, 3), gen.UInt8()))
	properties.TestingRun(t)
}
