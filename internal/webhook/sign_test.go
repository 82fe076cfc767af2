package webhook

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	receiver "fairdice/client/webhook"
)

// The published example of Standard Webhooks.
const (
	specSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	specID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	specTime      = 1614265330
	specBody      = `{"test": 2432232314}`
	specSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var b64 = base64.StdEncoding.EncodeToString

func pair(seed byte) (private, public string) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return "whsk_" + b64(key), "whpk_" + b64(key[ed25519.SeedSize:])
}

func sign(t *testing.T, at time.Time, body string, keys ...string) http.Header {
	t.Helper()
	s, err := Sign(keys, specID, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set(receiver.IDHeader, specID)
	h.Set(receiver.TimestampHeader, strconv.FormatInt(at.Unix(), 10))
	h.Set(receiver.SignatureHeader, s)
	return h
}

func TestSpecExample(t *testing.T) {
	at := time.Unix(specTime, 0)
	h := sign(t, at, specBody, specSecret)
	if got := h.Get(receiver.SignatureHeader); got != specSignature {
		t.Errorf("signature %s, the specification has %s", got, specSignature)
	}
	v, err := receiver.New(specSecret)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(h, []byte(specBody), at); err != nil {
		t.Error(err)
	}
}

// The Ed25519 signature is deterministic (RFC 8032), and is that of the same
// signed text; under the key of RFC 8032 §7.1 test 1 the public half is the published one.
func TestEd25519(t *testing.T) {
	seed := []byte("\x9d\x61\xb1\x9d\xef\xfd\x5a\x60\xba\x84\x4a\xf4\x92\xec\x2c\xc4\x44\x49\xc5\x69\x7b\x32\x69\x19\x70\x3b\xac\x03\x1c\xae\x7f\x60")
	key := ed25519.NewKeyFromSeed(seed)
	public := "whpk_" + b64(key[32:])
	if public != "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=" {
		t.Fatalf("public key %s", public)
	}
	at := time.Unix(specTime, 0)
	h := sign(t, at, specBody, "whsk_"+b64(key))
	want := "v1a," + b64(ed25519.Sign(key, []byte(specID+"."+strconv.Itoa(specTime)+"."+specBody)))
	if got := h.Get(receiver.SignatureHeader); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	v, err := receiver.New(public)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(h, []byte(specBody), at); err != nil {
		t.Error(err)
	}
}

// While a key is replaced, receivers with the old key, the new one or both
// take the message, and one with another key does not.
func TestRotation(t *testing.T) {
	at := time.Unix(specTime, 0)
	other := "whsec_" + b64(bytes.Repeat([]byte{9}, 32))
	newPrivate, newPublic := pair(1)
	_, stranger := pair(2)
	for _, test := range []struct {
		name string
		has  []string
		good bool
	}{
		{"old", []string{specSecret}, true}, {"new", []string{newPublic}, true}, {"both", []string{specSecret, newPublic}, true},
		{"other secret", []string{other}, false}, {"other public key", []string{stranger}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := receiver.New(test.has...)
			if err != nil {
				t.Fatal(err)
			}
			err = v.Verify(sign(t, at, specBody, newPrivate, specSecret), []byte(specBody), at)
			if (err == nil) != test.good || err != nil && !errors.Is(err, receiver.ErrSignature) {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

func TestReceiverRefuses(t *testing.T) {
	at := time.Unix(specTime, 0)
	v, err := receiver.New(specSecret)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func(http.Header)
		body   string
		now    time.Time
	}{
		{"body", func(http.Header) {}, specBody + " ", at},
		{"id", func(h http.Header) { h.Set(receiver.IDHeader, "msg_other") }, specBody, at},
		{"no id", func(h http.Header) { h.Del(receiver.IDHeader) }, specBody, at},
		{"dot in id", func(h http.Header) { h.Set(receiver.IDHeader, "a.b") }, specBody, at},
		{"time", func(h http.Header) { h.Set(receiver.TimestampHeader, "1614265331") }, specBody, at},
		{"sign of time", func(h http.Header) { h.Set(receiver.TimestampHeader, "+1614265330") }, specBody, at},
		{"no time", func(h http.Header) { h.Del(receiver.TimestampHeader) }, specBody, at},
		{"old", func(http.Header) {}, specBody, at.Add(receiver.Tolerance + time.Second)},
		{"future", func(http.Header) {}, specBody, at.Add(-receiver.Tolerance - time.Second)},
		{"version", func(h http.Header) { h.Set(receiver.SignatureHeader, "v2"+specSignature[2:]) }, specBody, at},
		{"other kind", func(h http.Header) { h.Set(receiver.SignatureHeader, "v1a"+specSignature[2:]) }, specBody, at},
		{"no signature", func(h http.Header) { h.Del(receiver.SignatureHeader) }, specBody, at},
		{"many", func(h http.Header) { h.Set(receiver.SignatureHeader, strings.Repeat("v1,AAAA ", 20)+specSignature) }, specBody, at},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := sign(t, at, specBody, specSecret)
			test.change(h)
			if err := v.Verify(h, []byte(test.body), test.now); err == nil {
				t.Error("it is taken")
			} else if strings.Contains(err.Error(), specSecret[6:]) {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	private, _ := pair(1)
	for _, key := range []string{"", "whsec_", "whsec_!!!!", "whsec_" + b64(make([]byte, 23)), "whsec_" + b64(make([]byte, 65)), "whpk_" + b64(make([]byte, 31)), private, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if _, err := receiver.New(key); err == nil {
			t.Errorf("the receiver takes the key %q", key)
		} else if len(key) > 12 && strings.Contains(err.Error(), key[8:]) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
	if _, err := receiver.New(); err == nil {
		t.Error("a receiver without a key")
	}
	for _, key := range []string{"", "whsec_", "whsec_!", "whsec_" + b64(make([]byte, 23)), "whsk_" + b64(make([]byte, 32)), "whpk_" + b64(make([]byte, 32))} {
		if _, err := Sign([]string{key}, "id", time.Unix(0, 0), nil); err == nil {
			t.Errorf("the signer takes the key %q", key)
		}
	}
	if _, err := Sign(nil, "id", time.Unix(0, 0), nil); err == nil {
		t.Error("signed with no key")
	}
}

// Whatever is signed is verified, and nothing that differs in one bit.
func TestSignVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "body")
		seed := rapid.Byte().Draw(t, "seed")
		private, public := pair(seed)
		secret := "whsec_" + b64(bytes.Repeat([]byte{seed}, rapid.IntRange(24, 64).Draw(t, "length")))
		signKey, readKey := secret, secret
		if rapid.Bool().Draw(t, "asymmetric") {
			signKey, readKey = private, public
		}
		at := time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "time"), 0)
		s, err := Sign([]string{signKey}, "msg_1", at, body)
		if err != nil {
			t.Fatal(err)
		}
		v, err := receiver.New(readKey)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		h.Set(receiver.IDHeader, "msg_1")
		h.Set(receiver.TimestampHeader, strconv.FormatInt(at.Unix(), 10))
		h.Set(receiver.SignatureHeader, s)
		if err := v.Verify(h, body, at); err != nil {
			t.Fatal(err)
		}
		bit := rapid.IntRange(0, 8*len(body)-1).Draw(t, "bit")
		body[bit/8] ^= 1 << (bit % 8)
		if err := v.Verify(h, body, at); !errors.Is(err, receiver.ErrSignature) {
			t.Fatalf("changed body: %v", err)
		}
	})
}

// FuzzVerify: whatever headers come, nothing but the one signature is taken.
func FuzzVerify(f *testing.F) {
	f.Add(specID, "1614265330", specSignature, []byte(specBody))
	f.Add(specID, "1614265330", "v1, v1,= ,"+specSignature, []byte(specBody))
	f.Add("", "-1", "v1a,", []byte(nil))
	v, err := receiver.New(specSecret)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, stamp, signature string, body []byte) {
		h := http.Header{}
		h.Set(receiver.IDHeader, id)
		h.Set(receiver.TimestampHeader, stamp)
		h.Set(receiver.SignatureHeader, signature)
		if v.Verify(h, body, time.Unix(specTime, 0)) == nil && (id != specID || stamp != "1614265330" || string(body) != specBody) {
			at, err := strconv.ParseInt(stamp, 10, 64)
			good, e := Sign([]string{specSecret}, id, time.Unix(at, 0), body)
			if err != nil || e != nil || !strings.Contains(signature, good) {
				t.Errorf("taken: %q %q %q %q", id, stamp, signature, body)
			}
		}
		if e, err := receiver.Parse(body); err == nil && e.Type == "" {
			t.Error("an event without a type")
		}
	})
}
