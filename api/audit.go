package api

import (
	"context"

	"fairdice/commitment"
	"fairdice/house"
)

// ListOverdue answers what the house owes.
func (s *server) ListOverdue(ctx context.Context, r ListOverdueRequestObject) (ListOverdueResponseObject, error) {
	limit := r.Params.Limit
	switch {
	case limit == 0:
		limit = maxPage
	case limit < 1 || limit > maxPage:
		return nil, refuse(house.Malformed, "limit is not 1 to %d", maxPage)
	}
	if r.Params.Cursor < 0 || r.Params.Cursor > commitment.MaxInteger {
		return nil, refuse(house.Malformed, "cursor is not the next of a page")
	}
	list, err := s.house.Overdue(ctx, r.Params.Cursor, limit+1)
	if err != nil {
		return nil, err
	}
	page := ListOverdue200JSONResponse{Overdue: []Overdue{}}
	if len(list) > limit {
		page.Next = list[limit].Index
		list = list[:limit]
	}
	for _, o := range list {
		page.Overdue = append(page.Overdue, Overdue{
			Index: o.Index, Since: o.Since, Due: o.Due, Sequence: o.Sequence, Tenant: o.Tenant, Mode: Mode(o.Mode), Match: o.Match, Game: o.Game,
		})
	}
	return page, nil
}

// GetStatistics answers what was counted of the dice, and the tests on it.
func (s *server) GetStatistics(ctx context.Context, r GetStatisticsRequestObject) (GetStatisticsResponseObject, error) {
	st, err := s.house.Statistics(ctx, r.Params.Tenant, string(r.Params.Mode))
	if err != nil {
		return nil, err
	}
	out := GetStatistics200JSONResponse{
		Uncounted: st.Uncounted, Groups: []StatisticsGroup{}, ReportLevel: st.Report.ReportLevel, AlarmLevel: st.Report.AlarmLevel,
		Tests: []StatisticsTest{}, NotTested: st.Report.NotTested,
	}
	for _, g := range st.Groups {
		b := g.Tally.Pairs
		for i, n := range g.Tally.PairsA {
			b[i] -= n
		}
		closed, aborted, retired := g.Tally.Games[0], g.Tally.Games[1], g.Tally.Games[2]
		out.Games += closed + aborted
		out.Groups = append(out.Groups, StatisticsGroup{
			Tenant: g.Tenant, Mode: Mode(g.Mode), Closed: closed, Aborted: aborted, Retired: retired,
			Streams: []StatisticsStream{counted(StreamOpening, g.Tally.Opening), counted(StreamA, g.Tally.PairsA), counted(StreamB, b)},
		})
	}
	for _, t := range st.Report.Tests {
		out.Tests = append(out.Tests, StatisticsTest{
			Mode: Mode(t.Mode), Name: t.Name, What: t.What, N: t.N, Unit: t.Unit, Statistic: t.Statistic, P: t.P, Holm: t.Holm,
			Effect: t.Effect, Detectable: t.Detectable, Verdict: StatisticsTestVerdict(t.Verdict),
		})
	}
	return out, nil
}

// counted counts the throws of a stream in the ways people look at them.
func counted(name Stream, pairs [36]int64) StatisticsStream {
	out := StatisticsStream{Stream: name, Pairs: pairs[:], Sums: make([]int64, 11)}
	for i, n := range pairs {
		out.Rolls += n
		if i/6 == i%6 {
			out.Doubles += n
		}
		out.Sums[i/6+i%6] += n
	}
	return out
}
