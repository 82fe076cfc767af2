package web

import (
	"testing"
	"time"

	"fairdice/internal/messages"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		lang string
		n    any
		want string
	}{
		{"en", 999, "999"}, {"en", 1000, "1,000"}, {"en", int64(1234567), "1,234,567"}, {"en", uint64(0), "0"},
		{"ru", 9999, "9999"}, {"ru", 10000, "10\u00a0000"}, {"ka", int64(1234567), "1\u00a0234\u00a0567"}, {"hy", 100000, "100\u00a0000"},
		{"en", 79.44, "79.4"}, {"ru", 79.44, "79,4"}, {"en", 12345.96, "12,346"}, {"en", 79.96, "80"}, {"hy", 0.05, "0,1"},
	} {
		if got := decimal(c.lang, c.n); got != c.want {
			t.Errorf("%v in %s is %q, want %q", c.n, c.lang, got, c.want)
		}
	}
}

func TestChance(t *testing.T) {
	for p, want := range map[float64]string{1: "1,00", 0.5612: "0,56", 0.01: "0,01", 0.0099: "0,0099", 0.000123: "0,000123", 1e-6: "0,000001", 1e-9: "< 0,000001", 0: "< 0,000001"} {
		if got := chance("ru", p); got != want {
			t.Errorf("%v is %q, want %q", p, got, want)
		}
	}
}

func TestDate(t *testing.T) {
	at := time.Date(2026, 11, 9, 4, 5, 6, 0, time.FixedZone("", 4*3600))
	for lang, want := range map[string]string{
		"en": "9 November 2026, 00:05 UTC", "ru": "9 ноября 2026 г., 00:05 UTC", "ka": "9 ნოემბერი, 2026, 00:05 UTC", "hy": "9 նոյեմբերի, 2026 թ., 00:05 UTC",
	} {
		if got := date(messages.For(lang), at); got != want {
			t.Errorf("in %s %q, want %q", lang, got, want)
		}
	}
	if got := date(messages.For("en"), time.Time{}); got != "—" {
		t.Errorf("no time is %q", got)
	}
}

func TestPlot(t *testing.T) {
	for _, p := range []Plot{{}, {Values: []PlotValue{{"1-1", 0}}}, {Values: []PlotValue{{"1-1", 3}, {"1-2", 7}}, Least: 3, Most: 7, Expect: 5}} {
		text := string(plot(p))
		if (text == "") != (len(p.Values) == 0) {
			t.Errorf("%v is drawn as %q", p, text)
		}
	}
}
