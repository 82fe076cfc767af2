package commitment

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStreamVectors(t *testing.T) {
	type shuffled struct {
		Key           Hash
		Label         string
		Size          int
		Result        []int
		First, Second []int
	}
	var v struct {
		Streams []struct {
			Key     Hash
			Label   string
			Bytes   string
			Block11 Hash `json:"block_11"`
		}
		U, Rejection []struct {
			What      string
			Key       Hash
			Label     string
			N         int
			Results   []int
			BytesRead int `json:"bytes_read"`
			Discarded int
		}
		Interleaved struct {
			Key   Hash
			Calls [][]json.RawMessage
		}
		Shuffle      []shuffled
		ShuffleTwice shuffled `json:"shuffle_twice"`
		Pair         string
		U64          []struct {
			Key     Hash
			Label   string
			N       uint64
			Results []uint64
		}
		RollKeys []struct {
			Key     Hash
			Stream  string
			Index   int
			RollKey Hash `json:"roll_key"`
		} `json:"roll_keys"`
		GameKeys []struct {
			Secret, Sequence string
			Cut              Cut
			GameKey          Hash `json:"game_key"`
		} `json:"game_keys"`
	}
	readVectors(t, "streams.json", &v)
	if len(v.Streams) == 0 || len(v.U) == 0 || len(v.Rejection) == 0 || len(v.Shuffle) == 0 || len(v.U64) == 0 || len(v.RollKeys) == 0 || len(v.GameKeys) == 0 {
		t.Fatal("a list of streams.json is empty")
	}
	for _, c := range v.Streams {
		s := newGenerator(c.Key).stream(c.Label)
		got := make([]byte, 12*32)
		for i := range got {
			got[i] = s.next()
		}
		if hex.EncodeToString(got[:len(c.Bytes)/2]) != c.Bytes || Hash(got[11*32:]) != c.Block11 {
			t.Errorf("bytes of label %s differ", c.Label)
		}
	}
	for _, c := range append(v.U, v.Rejection...) {
		s := newGenerator(c.Key).stream(c.Label)
		var got []int
		for range c.Results {
			got = append(got, s.uniform(c.N))
		}
		if d := cmp.Diff(c.Results, got); d != "" {
			t.Errorf("U(%s, %d) %s: -want +got\n%s", c.Label, c.N, c.What, d)
		}
		read := int(s.block)*32 - 32 + s.pos
		if read != c.BytesRead || read-len(c.Results) != c.Discarded {
			t.Errorf("U(%s, %d): %d bytes read, want %d", c.Label, c.N, read, c.BytesRead)
		}
	}
	g := newGenerator(v.Interleaved.Key)
	labels := map[string]*byteStream{}
	for i, call := range v.Interleaved.Calls {
		var label string
		var n, want int
		for j, to := range []any{&label, &n, &want} {
			if err := json.Unmarshal(call[j], to); err != nil {
				t.Fatal(err)
			}
		}
		if labels[label] == nil {
			labels[label] = g.stream(label)
		}
		if got := labels[label].uniform(n); got != want {
			t.Errorf("interleaved call %d: U(%s, %d) = %d, want %d", i, label, n, got, want)
		}
	}
	permute := func(s *byteStream, n int) []int {
		list := make([]uint8, n)
		for i := range list {
			list[i] = uint8(i)
		}
		s.shuffle(list)
		got := make([]int, n)
		for i, c := range list {
			got[i] = int(c)
		}
		return got
	}
	for _, c := range v.Shuffle {
		s := newGenerator(c.Key).stream(c.Label)
		if d := cmp.Diff(c.Result, permute(s, c.Size)); d != "" {
			t.Errorf("shuffle of %d: -want +got\n%s", c.Size, d)
		}
	}
	s := newGenerator(v.ShuffleTwice.Key).stream(v.ShuffleTwice.Label)
	for _, want := range [][]int{v.ShuffleTwice.First, v.ShuffleTwice.Second} {
		if d := cmp.Diff(want, permute(s, v.ShuffleTwice.Size)); d != "" {
			t.Errorf("shuffle twice: -want +got\n%s", d)
		}
	}
	var all []Dice
	for k := range pairs {
		all = append(all, pair(k))
		if pair(k).card() != k {
			t.Errorf("card of %s is %d, want %d", pair(k), pair(k).card(), k)
		}
	}
	if words(all) != v.Pair {
		t.Errorf("pairs %s, want %s", words(all), v.Pair)
	}
	for _, c := range v.U64 {
		s := newGenerator(c.Key).stream(c.Label)
		for i, want := range c.Results {
			if got := s.below(c.N); got != want {
				t.Errorf("reduction %d below %d = %d, want %d", i, c.N, got, want)
			}
		}
	}
	for _, c := range v.RollKeys {
		st, err := ParseStream(c.Stream)
		if err != nil {
			t.Fatal(err)
		}
		var got Hash
		newGenerator(c.Key).rollKey(&got, st, c.Index)
		if got != c.RollKey {
			t.Errorf("roll key %s %d = %s, want %s", st, c.Index, got, c.RollKey)
		}
	}
	for _, c := range v.GameKeys {
		if got := GameKey(Secret(unhex(t, c.Secret)), c.Sequence, c.Cut); got != c.GameKey {
			t.Errorf("game key with cut %s = %s, want %s", c.Cut, got, c.GameKey)
		}
	}
}
