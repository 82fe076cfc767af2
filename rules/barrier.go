package rules

import "math/bits"

// Barrier says which blocks of six are forbidden, and when that is tested (RULES.md §3 C7, §4 F2).
type Barrier uint8

const (
	BarrierNone  Barrier = iota + 1 // any block
	BarrierStage                    // C7, tested at the end of a stage
	BarrierStep                     // C7, tested after every step
	BarrierStart                    // F2: never all of the own start quarter at the end of a stage, and no lock-15
)

var barrierNames = []string{"none", "stage", "step", "start"}

func (b Barrier) String() string { return nameOf(barrierNames, uint8(b)) }

// barrier is a Barrier made ready for one stage: the enemy does not move in it, so his front is fixed.
type barrier struct {
	six   bool   // C7 is in force and can bite: no enemy checker is borne off
	every bool   // C7 after every step
	from  uint   // C7: runs of six that begin here or later on the enemy's path have no enemy checker past them
	start bool   // F2 (a)
	lock  uint32 // F2 (b): the six points, on the enemy's path, that would lock all fifteen in; 0: they do not stand together
}

func (b Barrier) ready(n *node, checkers int) (br barrier) {
	front := bits.Len32(n.opp.occupied()>>1) - 1 // own-path index of the enemy's foremost checker on the board
	switch b {
	case BarrierStage, BarrierStep:
		br.six = n.opp.count(offSlot) == 0
		br.every = br.six && b == BarrierStep
		br.from = uint(max(front-5, 0))
	case BarrierStart:
		br.start = true
		if front >= 0 && front <= 17 && int(n.opp.count(uint(front+1))) == checkers {
			br.lock = startQuarter << (front + 1)
		}
	}
	return br
}

// restricts reports whether any block is forbidden.
func (b Barrier) restricts() bool { return b != BarrierNone }

const startQuarter = 0x3f // own indices 0 to 5 as a mask over indices

// onEnemyPath turns the mover's slots into a mask over the enemy's path indices. Between its ends there is no
// adjacency: for White's blocks none of 12|13, for Black's none of 24|1.
func onEnemyPath(occ uint32) uint32 {
	idx := occ >> 1 & 0xffffff
	return (idx<<12 | idx>>12) & 0xffffff
}

// blocks reports a forbidden block of six under C7 in a mask of the mover's slots.
func (br *barrier) blocks(occ uint32) bool {
	m := onEnemyPath(occ)
	m &= m >> 1
	m &= m >> 2 & (m >> 4)
	// m now has a bit at the start of every run of six: pairs at 0, 2 and 4.
	return m>>br.from != 0
}

// locked reports a lock-15 (F2 b).
func (br *barrier) locked(occ uint32) bool {
	return br.lock != 0 && onEnemyPath(occ)&br.lock == br.lock
}

// quiet reports that no steps steps from occ, all of them inside reach, can break any rule about blocks, so that none
// need be tested.
func (br *barrier) quiet(occ, reach uint32, steps int) bool {
	if br.start && reach>>1&startQuarter == startQuarter || br.locked(reach) {
		return false
	}
	if !br.six || !br.blocks(reach) {
		return true
	}
	// A step fills one point at most, so a block needs the others to be held now.
	held, open := onEnemyPath(occ)>>br.from, onEnemyPath(reach)>>br.from
	for ; open != 0; held, open = held>>1, open>>1 {
		if open&startQuarter == startQuarter && bits.OnesCount32(held&startQuarter)+steps >= 6 {
			return false
		}
	}
	return true
}

// stepBreaks reports that a step to these slots, from a position that is locked or not, is forbidden by itself.
func (br *barrier) stepBreaks(wasLocked bool, occ uint32) bool {
	return br.every && br.blocks(occ) || !wasLocked && br.locked(occ)
}

// endBreaks reports that a stage may not end with these slots. waived: no sequence can open the standing lock-15.
func (br *barrier) endBreaks(waived bool, occ uint32) bool {
	return br.six && br.blocks(occ) || br.start && occ>>1&startQuarter == startQuarter || !waived && br.locked(occ)
}
