package commitment

import (
	"slices"

	"fairdice/internal/phrase"
)

// CheckLaw tests the exact law of a mode on dice that were really served (RULES.md §8): a and b are the elements of the
// personal streams from element 0 on, as far as they were drawn, and offsetA and offsetB what Sequence.Offset says.
// Full blocks must keep the law; a part of a block in the deck modes must hold no pair too often. One failure proves a
// fault. In random, real and live, where recomputation is the only exact law, nothing can fail here.
func CheckLaw(m Mode, offsetA, offsetB int, a, b []Dice) error {
	for i, d := range slices.Concat(a, b) {
		if !d.Valid() {
			return phrase.Errorf("check law of %s: throw %d is %s, not two dice", m, i, d)
		}
	}
	switch m {
	case Balanced, Twofold, Triple:
		if err := checkDeck(m, offsetA, a); err != nil {
			return phrase.Errorf("check law of %s: stream a: %w", m, err)
		}
		if err := checkDeck(m, offsetB, b); err != nil {
			return phrase.Errorf("check law of %s: stream b: %w", m, err)
		}
	case Equal:
		for at := 0; at+equalBlock <= min(len(a), len(b)); at += equalBlock {
			if counts(a[at:at+equalBlock]) != counts(b[at:at+equalBlock]) {
				return phrase.Errorf("check law of %s: throws %d…%d of the players are not the same twelve", m, at, at+equalBlock-1)
			}
		}
	case Levelled:
		for at := 0; at+levelledBlock <= min(len(a), len(b)); at += levelledBlock {
			if !levelled(a[at:at+levelledBlock], b[at:at+levelledBlock]) {
				return phrase.Errorf("check law of %s: throws %d…%d of the players differ too much", m, at, at+levelledBlock-1)
			}
		}
	}
	return nil
}

// checkDeck counts block by block. No pair too often in 36c cards means every pair exactly c times.
func checkDeck(m Mode, offset int, part []Dice) error {
	n := pairs * m.Deck()
	if offset < 0 || offset >= n {
		return phrase.Errorf("offset %d outside 0…%d", offset, n-1)
	}
	for at, end := 0, n-offset; at < len(part); at, end = end, end+n {
		block := part[at:min(end, len(part))]
		for card, count := range counts(block) {
			if count > m.Deck() {
				return phrase.Errorf("%s occurs %d times in throws %d…%d", pair(card), count, at, at+len(block)-1)
			}
		}
	}
	return nil
}

func counts(list []Dice) (n [pairs]int) {
	for _, d := range list {
		n[d.card()]++
	}
	return n
}
