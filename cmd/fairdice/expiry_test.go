package main

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestParseExpiry(t *testing.T) {
	day := 24 * time.Hour
	for _, test := range []struct {
		text string
		want time.Time
	}{
		{"", time.Time{}},
		{"never", time.Time{}},
		{"90d", noon.Add(90 * day)},
		{"12h", noon.Add(12 * time.Hour)},
		{"2026-11-29", time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}, // the day is not over
		{"2027-01-31", time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)},
		{"2027-01-31T18:00:00+04:00", time.Date(2027, 1, 31, 14, 0, 0, 0, time.UTC)},
	} {
		if got, err := parseExpiry(test.text, noon); err != nil || got != test.want {
			t.Errorf("%q: %v, %v; want %v", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{"0d", "-1d", "1", "d", "+1d", "1.5d", "36501d", "99999999999999999999d", "2026-11-28", "2026-02-30", "2026-11-29T12:00:00Z",
		"2127-01-01", "9999-12-31", "-5h", "0h", "Never", " 90d", "90d ", "90 d", "1e3h", "9999999h", "soon"} {
		if got, err := parseExpiry(text, noon); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

// Whatever is asked for, a key has no end or one that lies ahead, to the second.
func FuzzParseExpiry(f *testing.F) {
	for _, text := range []string{"never", "90d", "2027-01-31", "2027-01-31T18:00:00.5Z", "1h0.000000001s", "36500d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end, err := parseExpiry(text, noon)
		if err != nil || end.IsZero() {
			return
		}
		if !end.After(noon) || end.After(noon.AddDate(0, 0, maxSpan)) || end.Location() != time.UTC || end.Nanosecond() != 0 {
			t.Errorf("%q ends on %v", text, end)
		}
	})
}
