package jsonscan

import "hash/maphash"

// nameSet holds the hashes of the names of all open objects, as a stack and as
// an open-addressing table over it.
//
// Names leave in the reverse order of their coming, so clearing a slot restores
// the table exactly as it was: no other entry was placed past it since.
type nameSet struct {
	seed  maphash.Seed
	stack []uint64
	table []uint64 // 0 is empty; its length is a power of two, at most half full
}

const firstTable = 64

func (n *nameSet) init(seed maphash.Seed) {
	n.seed = seed
	n.table = make([]uint64, firstTable)
}

// sum is the hash of a decoded name.
func (n *nameSet) sum(name []byte) uint64 { return maphash.Bytes(n.seed, name) }

func (n *nameSet) live() int { return len(n.stack) }

// add enters a name of the object at this depth and tells whether it is new.
func (n *nameSet) add(hash uint64, depth int) bool {
	// The depth keeps equal names of nested objects apart; siblings never meet.
	key := hash + uint64(depth)*0x9e3779b97f4a7c15
	if key == 0 {
		key = 1
	}
	if 2*len(n.stack) >= len(n.table) {
		n.grow()
	}
	slot := n.find(key)
	if n.table[slot] == key {
		return false
	}
	n.table[slot] = key
	n.stack = append(n.stack, key)
	return true
}

// drop removes the names that came after the first live ones.
func (n *nameSet) drop(live int) {
	for i := len(n.stack) - 1; i >= live; i-- {
		n.table[n.find(n.stack[i])] = 0
	}
	n.stack = n.stack[:live]
}

// find returns the slot that holds key, or else the slot where it belongs.
func (n *nameSet) find(key uint64) int {
	mask := len(n.table) - 1
	slot := int(key>>32) & mask
	for n.table[slot] != 0 && n.table[slot] != key {
		slot = (slot + 1) & mask
	}
	return slot
}

// grow doubles the table, entering the names in the order in which they came.
func (n *nameSet) grow() {
	n.table = make([]uint64, 2*len(n.table))
	for _, key := range n.stack {
		n.table[n.find(key)] = key
	}
}
