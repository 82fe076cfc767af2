package messages

import (
	"crypto/sha256"
	_ "embed" // the hash
	"encoding/hex"
	"errors"
	"strings"
)

// The texts of details weigh as much as the rest of the catalogue and are needed in one language if at all, so the module
// has only their hash: whoever knows the module's hash knows what it can say.
//
//go:embed texts/details.sha256
var detailsHash string

var loaded phrases

func details() phrases { return loaded }

// LoadDetails takes texts/details.txt, and no other text.
func LoadDetails(text string) error {
	sum := sha256.Sum256([]byte(text))
	if hex.EncodeToString(sum[:]) != strings.TrimSpace(detailsHash) {
		return errors.New("load details: the texts are not those of this program")
	}
	all, err := parseDetails(text)
	if err != nil {
		return errors.New("load details: " + err.Error())
	}
	loaded = all
	return nil
}
