package reader

import (
	"bytes"
	"fmt"

	"fairdice/audit"
	"fairdice/internal/messages"
	"fairdice/internal/phrase"
	"fairdice/internal/wire"
	"fairdice/replay/files"
)

// Words tells the report on a bundle in a language, as JSON: title, sentences,
// what the answer to every check means, games, whether there is something to
// replay, and faults.
func Words(r audit.Report, lang string) ([]byte, error) {
	c := messages.For(lang)
	return object(func(w *wire.Writer) {
		w.Text("lang", c.Lang())
		w.Text("kind", "bundle")
		w.Text("verdict", string(r.Verdict))
		w.Text("title", r.Title(c))
		wire.List(w, "sentences", present(r.Sentences), func(s audit.Sentence) { w.Text("", s.In(c)) })
		wire.List(w, "checks", present(r.Checks), func(k audit.Check) {
			w.Object("", func() {
				w.Text("id", string(k.ID))
				w.Text("status", string(k.Status))
				w.Text("state", c.Text("status."+string(k.Status)))
				w.Text("words", c.Text("check."+string(k.ID)+"."+string(k.Status)))
				w.Text("detail", k.DetailIn(c))
				w.Int("game", k.Game)
				w.Int("line", k.Line)
			})
		})
		wire.List(w, "games", present(r.Games), func(g audit.GameSummary) { w.Text("", g.In(c)) })
		w.Bool("replay", len(r.Games) > 0)
		wire.List(w, "faults", present(r.Faults), func(f audit.Fault) {
			w.Object("", func() {
				w.Int("game", f.Game)
				w.Int("line", f.Line)
				w.Text("text", f.Text)
				w.Text("check", string(f.Check))
				w.Text("words", f.In(c))
				w.Text("due", f.DueIn(c))
				w.Texts("alternatives", present(f.Alternatives))
			})
		})
	})
}

// RecordWords tells the report on a file of records in a language, in the same
// shape.
func RecordWords(r files.Report, s *Show, lang string) ([]byte, error) {
	c := messages.For(lang)
	return object(func(w *wire.Writer) {
		w.Text("lang", c.Lang())
		w.Text("kind", "record")
		w.Text("verdict", string(r.Verdict))
		w.Text("title", c.Text("verdict."+string(r.Verdict)))
		w.Texts("sentences", []string{})
		wire.List(w, "checks", []files.Finding{}, nil)
		games := []string{}
		if r.Variant != "" {
			games = append(games, c.Text("variant."+r.Variant)+": "+c.Count("unit.game", int64(r.Games))+", "+c.Count("unit.roll", int64(r.Rolls)))
		}
		w.Texts("games", games)
		w.Bool("replay", r.Rolls > 0 || !s.Empty())
		wire.List(w, "faults", present(r.Findings), func(f files.Finding) {
			w.Object("", func() {
				w.Int("game", f.Game)
				w.Int("line", f.Line)
				w.Text("text", said(c, f.Message, f.Why))
				w.Text("check", f.Check)
				w.Text("words", fault(c, f))
				w.Text("due", "")
				w.Texts("alternatives", present(f.Legal))
			})
		})
		notes := []string{}
		for _, list := range [][]files.Note{r.Notes, r.Unchecked} {
			for _, n := range list {
				notes = append(notes, said(c, n.Text, n.Why))
			}
		}
		w.Texts("notes", notes)
	})
}

// fault is the rule that a finding names in a language, or if no text has its
// code what the finding says.
func fault(c messages.Catalogue, f files.Finding) string {
	if key := "code." + f.Category; c.Has(key) {
		return c.Text(key)
	}
	return said(c, f.Message, f.Why)
}

// said is an error in a language, or its English text where it is no longer at hand.
func said(c messages.Catalogue, english string, why error) string {
	if why == nil {
		return english
	}
	return phrase.In(why, c)
}

func object(members func(*wire.Writer)) ([]byte, error) {
	var out bytes.Buffer
	w := wire.NewReport(&out)
	w.Object("", func() { members(w) })
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("word report: %w", err)
	}
	return out.Bytes(), nil
}
