package oracle

import "sync"

// recent are the records decoded last: a script asks several nouns of the same
// attempts, and decoding is most of what a check costs. Nobody changes one.
var recent = records{decoded: map[string]*Record{}}

const recentRecords = 64 // about 100 KiB each

type records struct {
	lock    sync.Mutex
	decoded map[string]*Record
	order   []string // oldest first
}

func (r *records) decode(packet []byte) *Record {
	key := string(packet)
	r.lock.Lock()
	found, known := r.decoded[key]
	r.lock.Unlock()
	if known {
		return found
	}
	made := DecodeRecord(packet)
	r.lock.Lock()
	defer r.lock.Unlock()
	if _, known := r.decoded[key]; !known {
		r.decoded[key], r.order = made, append(r.order, key)
	}
	if len(r.order) > recentRecords {
		delete(r.decoded, r.order[0])
		r.order = r.order[1:]
	}
	return made
}
