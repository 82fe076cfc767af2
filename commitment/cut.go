package commitment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"fairdice/internal/phrase"
)

// A Cut is the value X that the dice of a sequence are drawn with: "-", or 64 hex digits that hash what players and
// beacon gave after the sequence was committed (PROTOCOL.md §4).
type Cut string

// NoCut is the cut of a commit's root, and of a deal that neither player nor beacon took part in.
const NoCut Cut = "-"

// ParseCut reads "-" or 64 lower-case hex digits.
func ParseCut(s string) (Cut, error) {
	if s == string(NoCut) {
		return NoCut, nil
	}
	if _, err := ParseHash(s); err != nil {
		return "", phrase.Errorf("parse cut: neither \"-\" nor 64 lower-case hex digits")
	}
	return Cut(s), nil
}

// NewCut hashes match id, game and segment (both from 1), the players' links and the beacon's signature as raw bytes.
// An absent value is nil; when all three are absent there is nothing to cut with and the result is NoCut.
func NewCut(match string, game, segment int, linkA, linkB *Hash, signature []byte) Cut {
	if linkA == nil && linkB == nil && signature == nil {
		return NoCut
	}
	b := append(make([]byte, 0, 512), "fairdice/v1 cut\n"...)
	b = append(append(b, match...), '\n')
	b = append(strconv.AppendInt(b, int64(game), 10), '\n')
	b = append(strconv.AppendInt(b, int64(segment), 10), '\n')
	for _, link := range []*Hash{linkA, linkB} {
		if link == nil {
			b = append(b, '-')
		} else {
			b = hex.AppendEncode(b, link[:])
		}
		b = append(b, '\n')
	}
	if signature == nil {
		b = append(b, '-')
	} else {
		b = hex.AppendEncode(b, signature)
	}
	b = append(b, '\n')
	return Cut(Sum(b).String())
}

// GameKey returns G = HMAC(S, "fairdice/v1 game " q " " X "\n"), the key of all dice and roll keys of a sequence.
func GameKey(s Secret, sequence string, cut Cut) Hash {
	mac := hmac.New(sha256.New, s[:])
	fmt.Fprintf(mac, "fairdice/v1 game %s %s\n", sequence, string(cut))
	var g Hash
	mac.Sum(g[:0])
	return g
}
