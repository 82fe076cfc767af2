package rules

import "math/bits"

// side is one player's checkers, packed: four bits for each of the slots 0 (bar), 1…24 (own-path index + 1) and 25
// (borne off), sixteen slots to a word; the 24 bits above slot 25 mark, by index, the points where his single
// checker is pinned. Fifteen checkers is what four bits can count, and what no array exceeds.
type side [2]uint64

const (
	barSlot  = 0
	headSlot = 1
	offSlot  = 25

	pinShift = 40

	pointSlots   uint32 = 0x1fffffe // slots of the 24 points
	outsideSlots uint32 = 1<<19 - 1 // bar and the points before the home
	homeSlots    uint32 = 0x3f << 19
	runnerSlots  uint32 = 0xfff << 2 // own indices 1 to 12: F1's runner has not yet passed the enemy head
)

func (s *side) count(slot uint) uint { return uint(s[slot>>4]>>(slot&15*4)) & 15 }

// places has one checker on each slot.
var places = func() (p [32]side) {
	for slot := range uint(offSlot + 1) {
		p[slot][slot>>4] = 1 << (slot & 15 * 4)
	}
	return p
}()

// pinned is the mask of pinned points by own-path index.
func (s *side) pinned() uint32 { return uint32(s[1] >> pinShift) }

// gather squeezes the lowest bit of each of sixteen nibbles into sixteen bits.
func gather(x uint64) uint32 {
	x = (x | x>>3) & 0x0303030303030303
	x = (x | x>>6) & 0x000f000f000f000f
	x = (x | x>>12) & 0x000000ff000000ff
	return uint32(x|x>>24) & 0xffff
}

const (
	nibbleLow  = 0x1111111111111111
	boardWord1 = 1<<36 - 1 // slots 16 to 24 of the second word: no borne-off checkers, no pins
)

// occupied is the mask of slots 0 to 24 with at least one checker.
func (s *side) occupied() uint32 {
	a, b := s[0], s[1]&boardWord1
	a |= a >> 2
	b |= b >> 2
	return gather((a|a>>1)&nibbleLow) | gather((b|b>>1)&nibbleLow)<<16
}

// stacked is the mask of slots 0 to 24 with two checkers or more.
func (s *side) stacked() uint32 {
	a, b := s[0], s[1]&boardWord1
	return gather((a>>1|a>>2|a>>3)&nibbleLow) | gather((b>>1|b>>2|b>>3)&nibbleLow)<<16
}

// lowest returns the lowest slot of a mask that is not empty.
func lowest(mask uint32) uint { return uint(bits.TrailingZeros32(mask)) }
