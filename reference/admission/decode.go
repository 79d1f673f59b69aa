package admission

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The host's two documents are read member by member: a decoder that has to
// find out what they look like takes several times as long, before every
// attempt. A test holds the two ways against each other.

// decoder reads one document strictly: no unknown member, none twice. A null
// leaves what it would set as it is.
type decoder struct{ *jsontext.Decoder }

// whole reads the one object of a document, and nothing after it.
func (d decoder) whole(member func(name string) error) error {
	if err := d.object(member); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("more after the object"), err)
	}
	return nil
}

// object reads an object; member reads the value of one of its members.
func (d decoder) object(member func(name string) error) error {
	if null, err := d.enter('{'); null || err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// enter reads the token that begins a value of a kind, or a null.
func (d decoder) enter(kind jsontext.Kind) (null bool, err error) {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return false, err
	case token.Kind() == 'n':
		return true, nil
	case token.Kind() != kind:
		return false, fmt.Errorf("%s at byte %d: not %s", token.Kind(), d.InputOffset(), kind)
	}
	return false, nil
}

func (d decoder) text(into *string) error {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return err
	case token.Kind() == '"':
		*into = token.String()
	case token.Kind() != 'n':
		return fmt.Errorf("%s at byte %d: not a string", token.Kind(), d.InputOffset())
	}
	return nil
}

func (d decoder) integer(into *int64) error {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return err
	case token.Kind() == '0':
		*into, err = strconv.ParseInt(token.String(), 10, 64)
		return err
	case token.Kind() != 'n':
		return fmt.Errorf("%s at byte %d: not an integer", token.Kind(), d.InputOffset())
	}
	return nil
}

// optional reads an integer into memory of its own.
func (d decoder) optional(into **int64) error {
	if d.PeekKind() != 'n' {
		*into = new(int64)
		return d.integer(*into)
	}
	_, err := d.ReadToken()
	return err
}

// small reads an integer that is an int.
func (d decoder) small(into *int) error {
	n := int64(*into)
	err := d.integer(&n)
	*into = int(n)
	return err
}

func (d decoder) texts(into *[]string) error {
	if null, err := d.enter('['); null || err != nil {
		return err
	}
	*into = []string{}
	for d.PeekKind() != ']' {
		var text string
		if err := d.text(&text); err != nil {
			return err
		}
		*into = append(*into, text)
	}
	_, err := d.ReadToken()
	return err
}

func unknown(name string) error { return fmt.Errorf("unknown member %q", name) }

func (d decoder) launch(l *Launch) error {
	return d.whole(func(name string) error {
		switch name {
		case "version":
			return d.small(&l.Version)
		case "attempt_id":
			return d.text(&l.AttemptID)
		case "grants":
			return d.grants(&l.Grants)
		case "planned_sink_bytes":
			return d.optional(&l.PlannedSinkBytes)
		case "spool":
			return d.spool(&l.Spool)
		case "pairing":
			return d.text(&l.Pairing)
		}
		return unknown(name)
	})
}

func (d decoder) grants(g *Grants) error {
	return d.object(func(name string) error {
		switch name {
		case "report_bytes":
			return d.optional(&g.ReportBytes)
		case "diagnostic_bytes":
			return d.optional(&g.DiagnosticBytes)
		case "wall_ms":
			return d.optional(&g.WallMS)
		case "stall_ms":
			return d.optional(&g.StallMS)
		case "memory_bytes":
			return d.optional(&g.MemoryBytes)
		}
		return unknown(name)
	})
}

func (d decoder) spool(s *Spool) error {
	return d.object(func(name string) error {
		switch name {
		case "path":
			return d.text(&s.Path)
		case "bytes":
			return d.integer(&s.Bytes)
		}
		return unknown(name)
	})
}

func (d decoder) pairing(p *Pairing) error {
	return d.whole(func(name string) error {
		switch name {
		case "version":
			return d.small(&p.Version)
		case "producer":
			return d.program(&p.Producer)
		case "jail":
			return d.program(&p.Jail)
		case "finalizer":
			return d.program(&p.Finalizer)
		case "uids":
			return d.uids(p)
		case "system":
			return d.texts(&p.System)
		case "scratch_bytes":
			return d.integer(&p.ScratchBytes)
		case "scratch_files":
			return d.integer(&p.ScratchFiles)
		case "transpiler":
			return d.tool(&p.Transpiler)
		case "compiler":
			return d.tool(&p.Compiler)
		case "binder":
			return d.tool(&p.Binder)
		}
		return unknown(name)
	})
}

func (d decoder) uids(p *Pairing) error {
	return d.object(func(name string) error {
		switch name {
		case "first":
			return d.small(&p.UIDs.First)
		case "count":
			return d.small(&p.UIDs.Count)
		}
		return unknown(name)
	})
}

func (d decoder) program(p *Program) error {
	return d.object(func(name string) error {
		if name == "path" {
			return d.text(&p.Path)
		}
		return unknown(name)
	})
}

func (d decoder) tool(t *Tool) error {
	return d.object(func(name string) error {
		switch name {
		case "path":
			return d.text(&t.Path)
		case "arguments":
			return d.texts(&t.Arguments)
		case "memory_bytes":
			return d.integer(&t.MemoryBytes)
		}
		return unknown(name)
	})
}
