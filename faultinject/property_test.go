package faultinject

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

// samePlan compares what plans say, not where they say it.
var samePlan = cmp.Options{
	cmpopts.IgnoreTypes(Pos{}), cmpopts.IgnoreUnexported(Rule{}), cmpopts.EquateEmpty(),
}

// draw makes values from gopter's bits, so that a plan shrinks as a whole.
type draw struct{ bits []uint64 }

func (d *draw) next() uint64 {
	if len(d.bits) == 0 {
		return 0
	}
	b := d.bits[0]
	d.bits = d.bits[1:]
	return b
}

func (d *draw) below(n int) int { return int(d.next() % uint64(n)) }

func (d *draw) coin() bool { return d.below(2) == 1 }

func pick[T any](d *draw, from ...T) T { return from[d.below(len(from))] }

func (d *draw) span() time.Duration { return time.Duration(1 + d.next()%uint64(time.Hour)) }

func (d *draw) action() Action {
	a := Action{Kind: ActionKind(1 + d.below(int(DoMark)))}
	switch a.Kind {
	case DoShort:
		a.N = 1 + d.next()%100
	case DoRet:
		a.N = d.next() % 3
	case DoErrno:
		a.Errno = pick(d, "EIO", "EINTR", "ENOSPC", "EPIPE", "EAGAIN")
		a.Storm = pick(d, 0, d.next()%9)
		a.StormFor = pick(d, 0, d.span())
		a.NoSigpipe = a.Errno == "EPIPE" && d.coin()
	case DoAgain:
		a.Errno, a.Nudge = "EAGAIN", pick(d, 0, d.span())
	case DoDelay:
		a.Delay, a.Late = d.span(), d.coin()
	case DoSignal:
		a.Signal = pick(d, "SIGTERM", "SIGALRM")
		if d.coin() {
			a.Every, a.For = d.span(), d.span()
		}
	case DoKill:
		a.Role = pick(d, 0, Supervisor, Verifier, Untrusted)
	case DoHold:
		a.Name, a.Late, a.Max = pick(d, "h", "two"), d.coin(), pick(d, 0, d.span())
	case DoRelease:
		a.Name = pick(d, "h", "two")
	}
	return a
}

func (d *draw) rule(id string) Rule {
	r := Rule{ID: id, Roles: Role(1 + d.below(7)), Thread: d.below(3), Scope: Scope(d.below(4)), Times: 1}
	r.Calls = pick(d, []string{"%write"}, []string{"write", "pwrite64"}, []string{"%close"}, []string{"fsync", "%read"},
		[]string{"%rename", "write"})
	r.FD = pick(d, "", "report", "n-1")
	if r.Calls[0] == "%rename" {
		r.Path = pick(d, "", "/tmp/a b*", "x;y\"z", "#a", "\x01\xffé")
	}
	for range d.below(3) {
		op := pick(d, "==", "!=", ">=", "<=", ">", "<", "&")
		r.Args = append(r.Args, ArgTest{Arg: d.below(6), Op: op, Value: d.next()})
	}
	r.At = Position{Kind: PositionKind(1 + d.below(4))}
	switch r.At.Kind {
	case AtTime:
		r.At.Delay = d.span()
	default:
		r.At.N = 1 + d.next()%1e9
	}
	if id != "r0" && d.coin() {
		r.At.After = "r0"
	}
	r.Do = d.action()
	if !(r.At.Kind == AtBytes && r.Do.Kind.Boundary()) {
		r.Times = pick(d, 1, 2, 70000, Unlimited)
	}
	if r.Do.Kind == DoErrno || r.Do.Kind == DoRet {
		r.Effect = Effect(d.below(2))
	} else if r.Do.Kind == DoAgain {
		r.Effect = Skip
	}
	return r
}

func (d *draw) plan() Plan {
	p := Plan{Binds: []Bind{{Name: "report", Kind: BindPath, Pattern: pick(d, "/tmp/*", "a b;c")},
		{Name: "n-1", Kind: BindMemfd, Pattern: "memory x"}}}
	for i := range 1 + d.below(4) {
		p.Rules = append(p.Rules, d.rule(fmt.Sprintf("r%d", i)))
	}
	return p
}

var plans = gen.SliceOfN(160, gen.UInt64()).Map(func(bits []uint64) Plan {
	return (&draw{bits: bits}).plan()
}).WithShrinker(gopter.NoShrinker)

// forAllPlans runs check on valid plans and prints the seed. A drawn plan
// that contradicts itself is not counted; most must be valid.
func forAllPlans(t *testing.T, check func(Plan) string) {
	t.Helper()
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 1000
	valid := 0
	properties := gopter.NewProperties(parameters)
	properties.Property("plan", prop.ForAll(func(p Plan) string {
		if join(Lint(p)) != nil {
			return ""
		}
		valid++
		return check(p)
	}, plans))
	t.Logf("gopter seed %d", parameters.Seed())
	properties.TestingRun(t)
	t.Logf("%d valid plans", valid)
	if valid < 300 {
		t.Errorf("only %d of 1000 plans were valid: the generator tests little", valid)
	}
}

func TestParseOfPrintIsIdentity(t *testing.T) {
	forAllPlans(t, func(p Plan) string {
		back, err := Parse(Print(p))
		if err != nil {
			return err.Error() + "\n" + Print(p)
		}
		return cmp.Diff(p, back, samePlan)
	})
}

func TestJSONTwinIsIdentity(t *testing.T) {
	forAllPlans(t, func(p Plan) string {
		text, err := PrintJSON(p)
		if err != nil {
			// JSON holds no invalid UTF-8; the text form does.
			return ""
		}
		back, err := ParseJSON(text)
		if err != nil {
			return err.Error() + "\n" + string(text)
		}
		return cmp.Diff(p, back, samePlan)
	})
}

func FuzzParse(f *testing.F) {
	f.Add("rule a: on %write fd R role S,V arg2>=7 ; at bytes 9 ; do errno EIO storm 3 ; times 2\n")
	f.Add("bind R: path \"/tmp/a b\" # comment\nrule b: on close;do errno EIO;effect after")
	f.Add("rule c: on openat path x;at time 1s after a;do hold n after max 2s;scope thread")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(Print(plan))
		if err != nil {
			t.Fatalf("print of a parsed plan: %v\n%s", err, Print(plan))
		}
		if diff := cmp.Diff(plan, again, samePlan); diff != "" {
			t.Fatal(diff)
		}
		for _, r := range plan.Rules {
			if Explain(r) == "" || reflect.DeepEqual(r, Rule{}) {
				t.Fatal("empty explanation")
			}
		}
	})
}
