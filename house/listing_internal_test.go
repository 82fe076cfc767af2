package house

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever fits a filter and however large the pages are, they list each row
// that fits once and in order, and no request keeps the store for longer than
// MaxScan rows: a filter that fits nothing ends with a page that is empty and has
// a next one.
func TestWalkIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := int64(rapid.IntRange(0, 3*MaxScan).Draw(t, "rows"))
		every := int64(rapid.SampledFrom([]int{0, 1, 2, 7, 500, MaxScan + 1}).Draw(t, "every"))
		limit := rapid.IntRange(1, MaxPage).Draw(t, "limit")
		fits := func(n int64) bool { return every > 0 && n%every == 0 }
		var want, got []int64
		for n := range rows {
			if fits(n) {
				want = append(want, n)
			}
		}
		for from := int64(0); ; {
			looked := 0
			page, next, err := walk(limit, from, func(from int64, limit int) (list []int64, err error) {
				for n := from; n < min(rows, from+int64(limit)); n++ {
					list = append(list, n)
				}
				return list, nil
			}, func(n int64) int64 { return n }, upwards, func(n int64) (int64, bool, error) {
				looked++
				return n, fits(n), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if looked > MaxScan || len(page) > limit {
				t.Fatalf("a page of %d rows looked at %d", len(page), looked)
			}
			if len(page) < limit && next >= 0 && looked < MaxScan {
				t.Fatalf("a page of %d ends after %d rows", len(page), looked)
			}
			got = append(got, page...)
			if next < 0 {
				break
			}
			if next <= from {
				t.Fatalf("the page behind %d begins at %d", from, next)
			}
			from = next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("listed %v, want %v", got, want)
		}
	})
}
