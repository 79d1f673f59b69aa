package jsonscan

// Limits bounds what a Scanner holds. All bounds are inclusive; a zero field
// means its default, so that the zero value is the documented policy.
//
// Rules: R09, C-62.
type Limits struct {
	// Depth is how many containers may be open at once; the outer object is
	// the first. Default DefaultDepth.
	Depth int
	// LiveKeys is how many names all open objects may hold together. Default
	// DefaultLiveKeys.
	LiveKeys int
	// Members is how many top-level members are listed; further ones are only
	// counted, unless Capture names them. Default DefaultMembers.
	Members int
	// NameBytes is how long, decoded, the name of a listed member may be;
	// longer ones are only counted. Default DefaultNameBytes; never less than
	// the longest name of Capture.
	NameBytes int
	// Capture names the top-level members whose encoded bytes are retained.
	// They are always listed.
	Capture []string
	// CaptureBytes is how many encoded bytes of one captured member are
	// retained. Default DefaultCaptureBytes.
	CaptureBytes int
}

// Defaults of Limits.
const (
	DefaultDepth        = 10_000
	DefaultLiveKeys     = 1 << 18
	DefaultMembers      = 64
	DefaultNameBytes    = 128
	DefaultCaptureBytes = 64 << 10
)

func (l Limits) withDefaults() Limits {
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fill(&l.Depth, DefaultDepth)
	fill(&l.LiveKeys, DefaultLiveKeys)
	fill(&l.Members, DefaultMembers)
	fill(&l.NameBytes, DefaultNameBytes)
	fill(&l.CaptureBytes, DefaultCaptureBytes)
	for _, name := range l.Capture {
		l.NameBytes = max(l.NameBytes, len(name))
	}
	return l
}
