package commitment

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"fairdice/internal/phrase"
)

// MaxInteger is the greatest integer of a text, 2^53 − 1: every JSON reader keeps it exactly.
const MaxInteger = 1<<53 - 1

// timeLayout is the exact form of a time.
const timeLayout = "2006-01-02T15:04:05Z"

// ParseTime reads a UTC time in the exact form 2026-11-29T21:52:06Z. Package time is more lenient (it takes fractions
// of a second), so the text has to be what the time prints as.
func ParseTime(s string) (time.Time, error) {
	if len(s) == len(timeLayout) {
		n := func(from, to int) (v int) {
			for _, c := range []byte(s[from:to]) {
				v = 10*v + int(c-'0')
			}
			return v
		}
		t := time.Date(n(0, 4), time.Month(n(5, 7)), n(8, 10), n(11, 13), n(14, 16), n(17, 19), 0, time.UTC)
		var back [len(timeLayout)]byte
		if string(t.AppendFormat(back[:0], timeLayout)) == s { // whatever was read above: it prints as s, so it is s
			return t, nil
		}
	}
	return time.Time{}, phrase.Errorf("parse time: %q is not a UTC time like 2026-11-29T21:52:06Z", clip(s))
}

// FormatTime prints a time in the form ParseTime reads; a fraction of a second is cut off.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// ParseInteger reads a decimal integer without sign and leading zeros, at most MaxInteger.
func ParseInteger(s string) (uint64, error) {
	if s == "" || len(s) > 16 || (s[0] == '0' && s != "0") {
		return 0, phrase.Errorf("parse integer: %q is not a canonical number up to 2^53 - 1", clip(s))
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, phrase.Errorf("parse integer: %q is not a canonical number up to 2^53 - 1", clip(s))
		}
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil || v > MaxInteger {
		return 0, phrase.Errorf("parse integer: %q is above 2^53 - 1", clip(s))
	}
	return v, nil
}

// CheckID accepts a UUIDv7 in canonical lower-case form.
func CheckID(s string) error {
	if err := checkID(s); err != nil {
		return phrase.Errorf("check id: %w", err)
	}
	return nil
}

func checkID(s string) error {
	if len(s) != 36 {
		return phrase.Errorf("%q is not a lower-case UUIDv7", clip(s))
	}
	for i := 0; i < len(s); i++ {
		ok := false
		switch i {
		case 8, 13, 18, 23:
			ok = s[i] == '-'
		case 14:
			ok = s[i] == '7'
		case 19:
			ok = s[i] == '8' || s[i] == '9' || s[i] == 'a' || s[i] == 'b'
		default:
			_, ok = hexDigit(s[i])
		}
		if !ok {
			return phrase.Errorf("%q is not a lower-case UUIDv7: character %d", s, i+1)
		}
	}
	return nil
}

// CheckToken accepts [A-Za-z0-9._-]{1,64}.
func CheckToken(s string) error {
	if s == "" || len(s) > 64 {
		return phrase.Errorf("check token: %q has %d characters, want 1 to 64", clip(s), len(s))
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return phrase.Errorf("check token: %q holds %q, want A-Z a-z 0-9 . _ -", s, c)
		}
	}
	return nil
}

// CheckName accepts the name of a key, which is also the origin of a log: printable ASCII without space and plus.
func CheckName(s string) error {
	if s == "" {
		return errors.New("check name: it is empty")
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c > '~' || c == '+' {
			return phrase.Errorf("check name: %q holds %q, want printable ASCII without space and plus", clip(s), c)
		}
	}
	return nil
}

// clip shortens untrusted input for an error message.
func clip(s string) string {
	const limit = 64
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
