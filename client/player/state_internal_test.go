package player

import "testing"

// A file that was damaged is refused, never half believed: what is loaded is
// what would be written.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"format":"fairdice/v1/player","key":"k","last":"` + zeros + `","length":4,"terms":{"match":"m"},"released":[{"game":1,"segment":1}]}`))
	f.Add([]byte(`{"format":"fairdice/v1/player","last":"` + zeros + `","length":1048577}`))
	f.Add([]byte(`{"format":"fairdice/v1/player","last":"` + zeros + `","length":0}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, chain, err := parseState(data)
		if err != nil {
			return
		}
		if chain.Len() != s.Length || chain.Seed().String() != s.Last || len(s.Released) > s.Length {
			t.Errorf("a chain of %d links for %+v", chain.Len(), s)
		}
	})
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
