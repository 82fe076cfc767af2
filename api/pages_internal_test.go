package api

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairdice/web"
)

// A witness's signature holds its time; the log's own, and what is none, are
// no witnesses.
func TestWitnessesOfNote(t *testing.T) {
	line := func(name string, parts ...[]byte) string {
		return fmt.Sprintf("— %s %s\n", name, base64.StdEncoding.EncodeToString(bytes.Join(parts, nil)))
	}
	hash, signature := []byte{1, 2, 3, 4}, make([]byte, ed25519.SignatureSize)
	at := time.Unix(1796000000, 0)
	note := "dice.example/log\n7\nAAAA\n\n" + line("dice.example/log", hash, signature) +
		line("witness.example/w", hash, binary.BigEndian.AppendUint64(nil, uint64(at.Unix())), signature) + "— half\n— bad !!!\n"
	want := []web.Witness{{Name: "witness.example/w", Hash: "01020304", Time: at}}
	if diff := cmp.Diff(want, witnesses(note)); diff != "" {
		t.Errorf("witnesses (-want +got):\n%s", diff)
	}
	if got := witnesses("no note"); got != nil {
		t.Errorf("a text that is no note has the witnesses %v", got)
	}
}
