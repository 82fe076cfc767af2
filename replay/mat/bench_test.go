package mat_test

import (
	"bytes"
	"os"
	"testing"

	"fairdice/replay/mat"
)

// BenchmarkCorpus checks every row of the real files; "rolls/s" is the figure that matters.
func BenchmarkCorpus(b *testing.B) {
	var texts [][]byte
	size := int64(0)
	for _, name := range files(b, "mat/*.mat") {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		texts = append(texts, data)
		size += int64(len(data))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	rolls := 0
	for b.Loop() {
		for _, data := range texts {
			report, err := mat.Check(bytes.NewReader(data), mat.Options{})
			if err != nil || len(report.Findings) > 0 {
				b.Fatal(err, report.Findings)
			}
			rolls += report.Rolls
		}
	}
	b.ReportMetric(float64(rolls)/b.Elapsed().Seconds(), "rolls/s")
}
