package audit_test

import (
	"fmt"
	"os"

	"fairdice/audit"
)

// A player verifies the bundle he kept, under the log key he pinned before the
// match began.
func ExampleVerify() {
	data, err := os.ReadFile("testdata/bundle-l2.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	const key = "example.org/fairdice/test+c90ecb27+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
	report := audit.Verify(data, audit.Trust{Key: key})
	fmt.Println(report.Verdict, report.Level, report.LevelNote)
	for _, g := range report.Games {
		fmt.Printf("game %d: %s after %d rolls\n", g.Game, g.Result, g.Rolls)
	}
	// Output:
	// verified L2 as declared
	// game 1: A 1 after 6 rolls
}
