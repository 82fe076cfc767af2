package commitment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// newTestKey returns the signer's text of the key whose seed is 32 times b.
func newTestKey(t testing.TB, name string, b byte) string {
	t.Helper()
	skey, _, err := NewKey(name, bytes.NewReader(bytes.Repeat([]byte{b}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return skey
}

func TestKeyVectors(t *testing.T) {
	var v struct {
		Keys []struct {
			What, Name  string
			Type        Algorithm
			Seed        string
			KeyHash     string `json:"key_hash"`
			VerifierKey string `json:"verifier_key"`
			SignerKey   string `json:"signer_key"`
		}
		Invalid []struct{ What, Key string } `json:"verifier_keys_invalid"`
		Known   struct {
			NoteKey string `json:"note_key"`
			Note    string
		}
	}
	readVectors(t, "checkpoint.json", &v)
	if len(v.Keys) == 0 || len(v.Invalid) == 0 {
		t.Fatal("a list is empty")
	}
	for _, c := range v.Keys {
		k, err := NewSignerKey(c.Name, c.Type, bytes.NewReader(unhex(t, c.Seed)))
		if err != nil {
			t.Fatal(err)
		}
		if k.Reveal() != c.SignerKey || k.Verifier().String() != c.VerifierKey || fmt.Sprintf("%08x", k.Verifier().KeyHash()) != c.KeyHash {
			t.Errorf("%s: key is %s", c.What, k.Verifier())
		}
		if back, err := ParseSignerKey(c.SignerKey); err != nil || back != k {
			t.Errorf("%s: signer key does not parse back: %v", c.What, err)
		}
		if back, err := ParseVerifierKey(c.VerifierKey); err != nil || back != k.Verifier() {
			t.Errorf("%s: verifier key does not parse back: %v", c.What, err)
		}
		_, errV := ParseVerifier(c.VerifierKey)
		_, errS := NewSigner(c.SignerKey)
		if want := c.Type == AlgSignature; (errV == nil) != want || (errS == nil) != want {
			t.Errorf("%s: verifier %v, signer %v", c.What, errV, errS)
		}
	}
	for _, c := range v.Invalid {
		if _, err := ParseVerifier(c.Key); err == nil {
			t.Errorf("verifier key accepted: %s", c.What)
		}
	}
	ver, err := ParseVerifier(v.Known.NoteKey)
	if err != nil {
		t.Fatal(err)
	}
	n, err := OpenNote(v.Known.Note, ver)
	if err != nil || n.Text != "This is an example message.\n" {
		t.Errorf("the known note: %v %v", n, err)
	}
	for _, k := range v.Keys {
		if _, err := ParseVerifierKey(k.SignerKey); err == nil || !strings.Contains(err.Error(), "secret key") || strings.Contains(err.Error(), k.SignerKey[len(k.SignerKey)-40:]) {
			t.Errorf("the secret key in the place of the verifier key: %v", err)
		}
		for _, bad := range []string{
			strings.ToUpper(k.VerifierKey), k.VerifierKey + " ", k.VerifierKey + "\n", " " + k.VerifierKey,
			strings.TrimRight(k.VerifierKey, "="), k.VerifierKey + "=", k.SignerKey,
		} {
			if got, err := ParseVerifierKey(bad); err == nil && bad != k.VerifierKey {
				t.Errorf("%q parsed as %s", bad, got)
			}
		}
	}
}

// note.Signer and note.Verifier of this package are those of package note.
func TestKeysAgreeWithNote(t *testing.T) {
	skey, vkey, err := NewKey("example.org/log", bytes.NewReader(bytes.Repeat([]byte{5}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: "hello\n"}, signer)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ParseVerifier(vkey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := note.Open(signed, note.VerifierList(v)); err != nil {
		t.Error(err)
	}
	if _, err := OpenNote(string(signed), v); err != nil {
		t.Error(err)
	}
}

// Nothing that package fmt, slog or json can do prints a secret, a private key, the dice to come or unreleased links.
func TestSecretsAreRedacted(t *testing.T) {
	secret := Secret(bytes.Repeat([]byte{0xab, 0xcd}, 16))
	key, err := NewSignerKey("example.org/log", AlgSignature, bytes.NewReader(secret[:]))
	if err != nil {
		t.Fatal(err)
	}
	chain, err := NewChain(bytes.NewReader(secret[:]), 3)
	if err != nil {
		t.Fatal(err)
	}
	seq, err := Build(secret, testID, Random, Lengths{1, 1, 1}, NoCut, nil)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := NewArchive(Hash(secret), make12())
	if err != nil {
		t.Fatal(err)
	}
	type wrapped struct {
		Secret Secret
		Key    SignerKey
		Chain  *Chain
		Seq    *Sequence
		Close  Close
	}
	for _, v := range []any{secret, &secret, key, chain, *chain, seq, *seq, archive, *archive, []Secret{secret}, map[string]Secret{"s": secret},
		RevealedSecret{testID, secret}, Retire{Secret: secret},
		wrapped{secret, key, chain, seq, Close{Secrets: []RevealedSecret{{testID, secret}}}}} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%08b"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "v", v)
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Fatal(err)
		}
		for _, leak := range []string{"abcd", "ABCD", "171 205", "171,205", "q83N", "10101011", "PRIVATE", "«Í", seq.Key(StreamA, 0).String()} {
			if strings.Contains(out.String(), leak) {
				t.Errorf("%T printed %q in\n%s", v, leak, out.String())
			}
		}
	}
	if _, err := ParseSecret(strings.Repeat("AB", 32)); err == nil || strings.Contains(err.Error(), "ABAB") {
		t.Errorf("the error repeats the secret: %v", err)
	}
	if back, err := ParseSecret(secret.Reveal()); err != nil || !back.Equal(secret) {
		t.Errorf("revealed secret does not parse back: %v", err)
	}
}
