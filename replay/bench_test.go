package replay_test

import (
	"testing"

	"fairdice/replay"
	"fairdice/rules"
)

// BenchmarkRun replays the complete games of the vectors, parsing included.
func BenchmarkRun(b *testing.B) {
	for _, v := range rules.Variants() {
		b.Run(v.ID, func(b *testing.B) {
			var file struct{ Games []gameVector }
			load(b, "rules/games-"+v.ID+".json", &file)
			b.ReportAllocs()
			lines := 0
			for b.Loop() {
				for _, g := range file.Games {
					g.Variant = v.ID
					out := replay.Run(g.setting(b), g.Lines)
					if out.Fault != nil {
						b.Fatal(out.Fault)
					}
					lines += len(g.Lines)
				}
			}
			b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// BenchmarkApply replays parsed events: the state machine alone.
func BenchmarkApply(b *testing.B) {
	for _, id := range []string{"long-classic", "short", "crazy-gyulbar", "plakoto"} {
		b.Run(id, func(b *testing.B) {
			var file struct{ Games []gameVector }
			load(b, "rules/games-"+id+".json", &file)
			g := file.Games[0]
			g.Variant = id
			start, err := replay.Start(g.setting(b))
			if err != nil {
				b.Fatal(err)
			}
			events := replay.Run(g.setting(b), g.Lines).Events
			var gen rules.Generator
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				st := start
				for _, e := range events {
					if st, err = st.Apply(&gen, e); err != nil {
						b.Fatal(err)
					}
				}
				n += len(events)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
