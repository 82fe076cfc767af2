package commitment

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"
)

type statementVectors struct {
	Valid []struct {
		Name, Type, Text string
		Bytes            int
		LeafHash         Hash `json:"leaf_hash"`
		Lines            [][2]string
	}
	Invalid []struct {
		Name, Reason, Code string
		Text               *string
		Hex                *string
		TextRepeat         struct {
			Prefix, Repeat, Suffix string
			Times                  int
		} `json:"text_repeat"`
	}
}

func TestStatementVectors(t *testing.T) {
	var v statementVectors
	readVectors(t, "statements.json.gz", &v)
	if len(v.Valid) == 0 || len(v.Invalid) == 0 {
		t.Fatal("a list is empty")
	}
	types := map[string]bool{}
	for _, c := range v.Valid {
		t.Run("valid/"+c.Name, func(t *testing.T) {
			s, err := Parse([]byte(c.Text))
			if err != nil {
				t.Fatal(err)
			}
			types[s.Type()] = true
			if s.Type() != c.Type {
				t.Errorf("type %s, want %s", s.Type(), c.Type)
			}
			got, err := Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.Text, string(got)); d != "" {
				t.Errorf("text: -want +got\n%s", d)
			}
			if len(got) != c.Bytes || Hash(tlog.RecordHash(got)) != c.LeafHash {
				t.Errorf("%d bytes, want %d; or another leaf hash", len(got), c.Bytes)
			}
			last := c.Lines[len(c.Lines)-1]
			if FormatTime(s.When()) != last[1] {
				t.Errorf("time %s, want %s", FormatTime(s.When()), last[1])
			}
		})
	}
	if len(types) != len(parsers) {
		t.Errorf("%d types in the vectors, want %d", len(types), len(parsers))
	}
	for _, c := range v.Invalid {
		t.Run("invalid/"+c.Name, func(t *testing.T) {
			var text []byte
			switch {
			case c.Text != nil:
				text = []byte(*c.Text)
			case c.Hex != nil:
				text = unhex(t, *c.Hex)
			default:
				r := c.TextRepeat
				text = []byte(r.Prefix + strings.Repeat(r.Repeat, r.Times) + r.Suffix)
			}
			_, err := Parse(text)
			var perr *ParseError
			if !errors.As(err, &perr) {
				t.Fatalf("error %v, want a *ParseError: %s", err, c.Reason)
			}
			if perr.Code != c.Code {
				t.Errorf("code %s, want %s: %v", perr.Code, c.Code, err)
			}
		})
	}
}

// What no vector of statements.json breaks: each case changes one thing of a good statement.
func TestParseRefuses(t *testing.T) {
	var v statementVectors
	readVectors(t, "statements.json.gz", &v)
	good := map[string]string{}
	for _, c := range v.Valid {
		good[c.Name] = c.Text
	}
	for _, c := range []struct{ what, of, from, to, code string }{
		{"no final LF", "finish", "Z\n", "Z", "no-final-lf"},
		{"empty last line", "finish", "Z\n", "Z\n\n", "unknown-line"},
		{"equal players", "open, no anchors", "b player-two", "b player-one", "equal-players"},
		{"equal anchors", "open, two anchors", "d740355eed2f7f6b90e1763e85ad63d2edad74012c5fe486643698279642c3e4 self",
			"335bc20982c1c4e133b5f17bd05c199f504ba63114ecbf55ca257f5e54b8f68c custodial", "equal-anchors"},
		{"live with one anchor", "open, live", "anchor-b d740355eed2f7f6b90e1763e85ad63d2edad74012c5fe486643698279642c3e4 self\n", "", "live-needs-anchors"},
		{"live dice-only", "open, live", "profile refereed", "profile dice-only", "live-needs-refereed"},
		{"head55 in the short family", "open, no anchors", "crawford=off", "crawford=off head55=off", "options"},
		{"points:0", "open, long variant", "points:5", "points:0", "options"},
		{"points:26", "open, long variant", "points:5", "points:26", "options"},
		{"combined:26", "open, combined", "combined:25", "combined:26", "options"},
		{"single:1", "open, no anchors", "series=single", "series=single:1", "options"},
		{"real without archive", "commit", "mode random", "mode real", "archive"},
		{"empty stream", "commit", "rolls 16 256 256", "rolls 16 0 256", "number"},
		{"29 February of no leap year", "finish", "2024-10-14", "2025-02-29", "time"},
		{"second 60", "finish", "41:41Z", "41:60Z", "time"},
		{"hour 24", "finish", "T17", "T24", "time"},
		{"A wins nothing", "close", "result A 1", "result A 0", "result"},
		{"round of two numbers", "assign with round", "round 12040883", "round 12040883 1", "fields"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if !strings.Contains(good[c.of], c.from) {
				t.Fatalf("%q is not in %q", c.from, c.of)
			}
			_, err := Parse([]byte(strings.Replace(good[c.of], c.from, c.to, 1)))
			var perr *ParseError
			if !errors.As(err, &perr) {
				t.Fatalf("error %v, want a *ParseError", err)
			}
			if perr.Code != c.code {
				t.Errorf("code %s, want %s: %v", perr.Code, c.code, err)
			}
		})
	}
}

// Encode lets no field write a line of its own, and nothing that cannot be read back.
func TestEncodeRefuses(t *testing.T) {
	at := time.Date(2026, 11, 29, 21, 52, 6, 0, time.UTC)
	const id = "01970000-0000-7000-8000-000000000001"
	good := Abort{Match: id, Game: 1, By: "house", Reason: "outage", Time: at}
	if _, err := Encode(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		tamper func(*Abort)
	}{
		{"a line smuggled in", func(a *Abort) { a.Reason = "outage\nlink-a " + Hash{}.String() }},
		{"a second field", func(a *Abort) { a.Reason = "outage again" }},
		{"game 0", func(a *Abort) { a.Game = 0 }},
		{"negative lines", func(a *Abort) { a.RecordLines = -1 }},
		{"short signature", func(a *Abort) { a.Signature = make([]byte, 47) }},
		{"empty signature", func(a *Abort) { a.Signature = []byte{} }},
		{"year 10000", func(a *Abort) { a.Time = a.Time.AddDate(8000, 0, 0) }},
	} {
		bad := good
		c.tamper(&bad)
		if text, err := Encode(bad); err == nil {
			t.Errorf("%s: encoded as\n%s", c.what, text)
		}
	}
	local := good
	local.Time = at.Add(300 * time.Millisecond).In(time.FixedZone("", 4*3600))
	text, err := Encode(local)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(text), "time 2026-11-29T21:52:06Z\n") {
		t.Errorf("time of another zone printed as\n%s", text)
	}
}
