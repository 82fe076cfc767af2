package api

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"fairdice/audit"
	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/translog"
	"fairdice/web"
)

// pages are what people see. They are no part of the API and of its document:
// programs read the API, and nothing stands on a page that is not there too.
func (s *server) pages(r chi.Router) {
	static := s.site.Static()
	r.Get("/sw.js", static.ServeHTTP)
	r.Get("/static/*", static.ServeHTTP)
	r.Group(func(r chi.Router) {
		r.Use(s.deadline)
		r.Get("/", s.page(s.checkPage))
		r.Get("/match/{match}", s.page(s.matchPage))
		r.Get("/commitments", s.page(s.commitmentsPage))
		r.Get("/commitments/{sequence}", s.page(s.sequencePage))
		r.Get("/log", s.page(s.logPage))
		r.Get("/how", s.page(s.howPage))
		r.Get("/my-chain", s.page(s.chainPage))
	})
}

// page counts a page as a read of its address, and shows what the function
// makes of the request.
func (s *server) page(make func(*http.Request) (web.Page, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := s.reads.take(w, r, s.proxies.caller(r))
		var p web.Page
		if err == nil {
			p, err = make(r)
		}
		if err != nil {
			p = s.failure(r, err)
		}
		s.site.Render(w, r, p)
	}
}

// failure is the page that is shown instead: of the texts of problems, which are
// for programmers, it has none.
func (s *server) failure(r *http.Request, err error) web.Failure {
	e := s.refusal(r.Context(), err)
	s.watch.Refused(e.Code)
	f := web.Failure{Status: problems[e.Code].status}
	if f.Status >= http.StatusInternalServerError {
		f.Request = requestID(r.Context())
	}
	return f
}

func (s *server) checkPage(*http.Request) (web.Page, error) {
	return web.Check{Key: s.house.VerifierKey(), Origin: s.house.Origin(), Module: s.site.Module()}, nil
}

func (s *server) howPage(*http.Request) (web.Page, error) { return web.How{}, nil }

func (s *server) chainPage(*http.Request) (web.Page, error) {
	p := web.MyChain{Key: s.house.VerifierKey(), Origin: s.house.Origin()}
	for _, v := range rules.Variants() {
		p.Variants = append(p.Variants, v.ID)
	}
	for _, m := range commitment.Modes() {
		p.Modes = append(p.Modes, m.String())
	}
	return p, nil
}

// matchPage shows what everybody may see; of a match that goes on no move.
func (s *server) matchPage(r *http.Request) (web.Page, error) {
	id := chi.URLParam(r, "match")
	v, err := s.house.Match(r.Context(), id)
	if err != nil {
		return nil, err
	}
	p := web.Match{
		Match: v.Match, Tenant: v.Tenant, Variant: v.Variant, Mode: v.Mode, Profile: v.Profile, Options: v.Options,
		A: v.A, B: v.B, Score: v.Score, State: v.State, Opened: v.OpenedAt, Live: v.State == string(MatchStateOpen),
		Module: s.site.Module(), Key: s.house.VerifierKey(),
	}
	for _, g := range v.Games {
		p.Games = append(p.Games, web.Game{Number: g.Game, State: g.State, Segments: g.Segments, Rolls: g.Rolls, Lines: g.Lines, Head: g.Head})
		p.Bundle = p.Bundle || g.State == string(GameStateClosed) || g.State == string(GameStateAborted)
	}
	if p.Bundle {
		if err := s.replayed(r.Context(), &p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// replayed adds what the records of ended games say, and where they ended.
func (s *server) replayed(ctx context.Context, p *web.Match) error {
	variant, _ := rules.Lookup(p.Variant) // what was opened is there
	e, err := s.house.Evidence(ctx, p.Match)
	if err != nil {
		return err
	}
	for _, g := range e.Games {
		i := slices.IndexFunc(p.Games, func(v web.Game) bool { return v.Number == g.Game })
		if i < 0 || p.Games[i].State != string(GameStateClosed) && p.Games[i].State != string(GameStateAborted) {
			continue
		}
		record, err := replay.ParseRecord([]byte(g.Record))
		if err != nil {
			return fmt.Errorf("read record of game %d: %w", g.Game, err)
		}
		if record.Header == nil {
			continue
		}
		h := record.Header
		run := replay.Run(replay.Setting{Variant: variant, Options: h.Options, Game: h.Game, Score: h.Score, Crawford: h.Crawford}, record.Lines)
		p.Games[i].Record = record.Lines
		p.Boards = append(p.Boards, web.Board{Game: g.Game, Position: run.Last.Position(), Rules: variant.Rules})
	}
	return nil
}

// listed is how many sequences a page lists.
const listed = 25

func (s *server) commitmentsPage(r *http.Request) (web.Page, error) {
	q := r.URL.Query()
	tenants, err := s.house.Tenants(r.Context())
	if err != nil {
		return nil, err
	}
	p := web.Commitments{
		Tenants: tenants, Tenant: q.Get("tenant"), Mode: q.Get("mode"), State: q.Get("state"), Cursor: q.Get("cursor"), Asked: strings.TrimSpace(q.Get("sequence")),
		States: []string{string(SequenceStateFree), string(SequenceStateAssigned), string(SequenceStatePublished), string(SequenceStateRetired)},
	}
	for _, m := range commitment.Modes() {
		p.Modes = append(p.Modes, m.String())
	}
	if p.Asked != "" {
		if _, _, err := s.house.Sequence(r.Context(), p.Asked, 0); err == nil {
			return web.Moved{URL: "/commitments/" + url.PathEscape(p.Asked)}, nil
		} else if !known(err) {
			return nil, err
		}
	}
	if p.Tenant == "" && len(tenants) > 0 {
		p.Tenant = tenants[0]
	}
	if p.Mode == "" {
		p.Mode = p.Modes[0]
	}
	var first uint64
	if p.Cursor != "" {
		if first, err = strconv.ParseUint(p.Cursor, 10, 64); err != nil || first > commitment.MaxInteger {
			return nil, refuse(house.Malformed, "cursor is not the next of a page")
		}
	}
	list, next, err := s.house.Sequences(r.Context(), p.Tenant, p.Mode, p.State, first, listed)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		p.Rows = append(p.Rows, sequenceRow(v))
	}
	if next > 0 {
		p.Next = strconv.FormatInt(next, 10)
	}
	return p, nil
}

// known tells a refusal of what a visitor typed from a failure.
func known(err error) bool {
	var e *house.Error
	return errors.As(err, &e) && (e.Code == house.NotFound || e.Code == house.Malformed)
}

func sequenceRow(v house.SequenceView) web.Sequence {
	return web.Sequence{
		ID: v.Sequence, Mode: v.Mode, State: v.State, Tenant: v.Tenant, Number: v.Number, Rolls: v.Rolls, Index: v.Index,
		Match: v.Match, Game: v.Game, Segment: v.Segment,
	}
}

func (s *server) sequencePage(r *http.Request) (web.Page, error) {
	v, pub, err := s.house.Sequence(r.Context(), chi.URLParam(r, "sequence"), 0)
	if err != nil {
		return nil, err
	}
	p := sequenceRow(v)
	p.Key, p.Checkpoint = s.house.VerifierKey(), pub.Checkpoint
	for _, st := range pub.Statements {
		p.Statement = st.Text
		for _, h := range st.Path {
			p.Path = append(p.Path, h.String())
		}
	}
	c, err := translog.ReadCheckpoint(pub.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	p.Size = c.Size
	return p, nil
}

// listedOverdue is how much that is overdue a page lists.
const listedOverdue = 50

// logPage shows where the log stands, and what all its dice add up to.
func (s *server) logPage(r *http.Request) (web.Page, error) {
	ctx := r.Context()
	p := web.Log{Origin: s.house.Origin(), Key: s.house.VerifierKey(), Module: s.site.Module()}
	if err := s.headOf(ctx, &p); err != nil {
		return nil, err
	}
	late, err := s.house.Overdue(ctx, 0, listedOverdue+1)
	if err != nil {
		return nil, err
	}
	p.More = len(late) > listedOverdue
	for _, o := range late[:min(len(late), listedOverdue)] {
		p.Overdue = append(p.Overdue, web.Overdue{
			Index: o.Index, Sequence: o.Sequence, Tenant: o.Tenant, Mode: o.Mode, Match: o.Match, Game: o.Game, Since: o.Since, Due: o.Due,
		})
	}
	st, err := s.house.Statistics(ctx, "", "")
	if err != nil {
		return nil, err
	}
	for _, g := range st.Groups {
		row := web.Group{Tenant: g.Tenant, Mode: g.Mode, Games: g.Tally.Games[stats.Finished], Aborted: g.Tally.Games[stats.Dropped]}
		for _, n := range g.Tally.Rolls {
			row.Rolls += n
		}
		p.Groups = append(p.Groups, row)
	}
	for _, t := range st.Report.Tests {
		if t.Tenant == "" && t.Key == "" {
			p.Tests = append(p.Tests, web.Test{Mode: t.Mode, Name: t.Name, N: t.N, P: t.Holm, Verdict: string(t.Verdict)})
		}
	}
	for _, c := range st.Report.Charts {
		plot := web.Plot{Mode: c.Group.Mode, Least: slices.Min(c.Seen), Most: slices.Max(c.Seen), Expect: c.Expected[0]}
		for i, n := range c.Seen {
			plot.Values = append(plot.Values, web.PlotValue{Label: c.Labels[i], Count: n})
		}
		p.Plots = append(p.Plots, plot)
	}
	return p, nil
}

// headOf adds what /checkpoint answers, which with witnesses is the checkpoint
// that they have signed.
func (s *server) headOf(ctx context.Context, p *web.Log) error {
	note, err := s.checkpoint(ctx)
	if err != nil || note == "" {
		return err
	}
	c, err := translog.ReadCheckpoint(note)
	if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	p.Checkpoint, p.Size, p.Root = note, c.Size, hex.EncodeToString(c.Root[:])
	last, err := s.house.Statement(ctx, c.Size-1, 0)
	if err != nil {
		return fmt.Errorf("read last statement: %w", err)
	}
	// Every statement ends in its time (PROTOCOL.md §3).
	_, text, _ := strings.Cut(last.Statements[0].Text, "\ntime ")
	if p.Time, err = commitment.ParseTime(strings.TrimSuffix(text, "\n")); err != nil {
		return fmt.Errorf("read last statement: %w", err)
	}
	return s.watched(p)
}

// watched adds who else has signed. The page checks it again, under the keys
// that the visitor trusts.
func (s *server) watched(p *web.Log) error {
	trust := audit.Trust{Key: p.Key, Policy: s.house.Policy()}
	if trust.Policy != nil {
		p.Policy = trust.Policy.WithoutURLs().Text()
	}
	c, err := audit.ReadCosigned(p.Checkpoint, trust)
	if err != nil {
		return fmt.Errorf("read cosignatures: %w", err)
	}
	for _, l := range c.Lines {
		w := web.Witness{Name: l.Name, Hash: l.Hash}
		if l.Status == audit.Pass {
			w.Time = time.Unix(l.Time, 0).UTC()
		}
		p.Witnesses = append(p.Witnesses, w)
	}
	return nil
}

// checkpoint asks the log's own handler, "" before anything was signed.
func (s *server) checkpoint(ctx context.Context) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/checkpoint", nil)
	if err != nil {
		return "", fmt.Errorf("ask for checkpoint: %w", err)
	}
	a := answer{header: http.Header{}, status: http.StatusOK}
	s.logs.ServeHTTP(&a, r)
	switch a.status {
	case http.StatusOK:
		return a.body.String(), nil
	case http.StatusNotFound:
		return "", nil
	}
	return "", refuse(house.Unavailable, "the log cannot be read now")
}

// answer is what a handler of this process has answered.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
