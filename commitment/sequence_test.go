package commitment

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"
)

type sequenceVectors struct {
	Secret     string
	Sequence   string
	SecretHash Hash `json:"secret_hash"`
	Cut        Cut
	Cases      []struct {
		Mode        string
		Cut         Cut
		Lengths     Lengths
		GameKey     Hash `json:"game_key"`
		Root        Hash
		Opening     string
		LastOpening string `json:"last_opening"`
		A, B        string
		LastA       string `json:"last_a"`
		LastB       string `json:"last_b"`
		Offset      *struct{ A, B int }
		Rotation    *int
		ArchiveHash *Hash `json:"archive_hash"`
		Archive     *string
		Openings    []struct {
			Stream   string
			Index    int
			Leaf     int
			Key      Hash
			Dice     [2]uint8
			LeafHash Hash `json:"leaf_hash"`
			Path     []Hash
		}
	}
	ArchivesInvalid []struct{ What, Text string } `json:"archives_invalid"`
}

func TestSequenceVectors(t *testing.T) {
	var v sequenceVectors
	readVectors(t, "sequences.json.gz", &v)
	secret := Secret(unhex(t, v.Secret))
	if secret.Hash() != v.SecretHash {
		t.Errorf("secret hash %s, want %s", secret.Hash(), v.SecretHash)
	}
	archives := map[Hash]*Archive{}
	seen := map[Mode]bool{}
	for _, c := range v.Cases {
		t.Run(fmt.Sprintf("%s %v %.4s", c.Mode, c.Lengths, c.Cut), func(t *testing.T) {
			m, err := ParseMode(c.Mode)
			if err != nil {
				t.Fatal(err)
			}
			seen[m] = true
			if c.Archive != nil {
				a, err := ParseArchive([]byte(*c.Archive))
				if err != nil {
					t.Fatal(err)
				}
				if string(a.Text()) != *c.Archive {
					t.Error("the archive's text is not what was parsed")
				}
				archives[a.Hash()] = a
			}
			var archive *Archive
			if c.ArchiveHash != nil {
				archive = archives[*c.ArchiveHash]
			}
			if got := GameKey(secret, v.Sequence, c.Cut); got != c.GameKey {
				t.Errorf("game key %s, want %s", got, c.GameKey)
			}
			q, err := Build(secret, v.Sequence, m, c.Lengths, c.Cut, archive)
			if err != nil {
				t.Fatal(err)
			}
			if q.Root() != c.Root {
				t.Errorf("root %s, want %s", q.Root(), c.Root)
			}
			for i, want := range []struct{ first, last string }{{c.Opening, c.LastOpening}, {c.A, c.LastA}, {c.B, c.LastB}} {
				part := q.part(Stream(i))
				if got := words(part[:min(40, len(part))]); got != want.first {
					t.Errorf("stream %s begins %s, want %s", Stream(i), got, want.first)
				}
				if got := word(part[len(part)-1]); got != want.last {
					t.Errorf("stream %s ends with %s, want %s", Stream(i), got, want.last)
				}
			}
			if c.Offset != nil && (q.Offset(StreamA) != c.Offset.A || q.Offset(StreamB) != c.Offset.B) {
				t.Errorf("offsets %d %d, want %d %d", q.Offset(StreamA), q.Offset(StreamB), c.Offset.A, c.Offset.B)
			}
			if c.Rotation != nil && q.Dice(StreamOpening, 0) != archive.Throw(*c.Rotation) {
				t.Errorf("first throw is not the archive's throw %d", *c.Rotation)
			}
			for _, o := range c.Openings {
				st, err := ParseStream(o.Stream)
				if err != nil {
					t.Fatal(err)
				}
				want := Opening{st, o.Index, Dice{o.Dice[0], o.Dice[1]}, o.Key, o.Path}
				got := q.Open(st, o.Index)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("opening %s %d: -want +got\n%s", st, o.Index, d)
				}
				if leaf, err := c.Lengths.LeafIndex(st, o.Index); err != nil || leaf != o.Leaf {
					t.Errorf("leaf of %s %d is %d (%v), want %d", st, o.Index, leaf, err, o.Leaf)
				}
				if h := leafHash(&got.Key, got.Dice); h != o.LeafHash {
					t.Errorf("leaf hash %s, want %s", h, o.LeafHash)
				}
				if err := want.Verify(c.Root, c.Lengths); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if len(seen) != len(Modes()) {
		t.Errorf("%d modes in the vectors, want %d", len(seen), len(Modes()))
	}
	for _, c := range v.ArchivesInvalid {
		if _, err := ParseArchive([]byte(c.Text)); err == nil {
			t.Errorf("archive accepted: %s", c.What)
		}
	}
}

func TestLiveVectors(t *testing.T) {
	var v struct {
		Cases []struct {
			What  string
			Key   Hash
			LinkA Hash `json:"link_a"`
			LinkB Hash `json:"link_b"`
			Dice  [2]uint8
		}
	}
	readVectors(t, "live.json", &v)
	if len(v.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range v.Cases {
		if got := LiveDice(c.Key, c.LinkA, c.LinkB); got != (Dice{c.Dice[0], c.Dice[1]}) {
			t.Errorf("%s: %s, want %v", c.What, got, c.Dice)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	archive, err := NewArchive(Hash{1}, make12())
	if err != nil {
		t.Fatal(err)
	}
	const id = "01970000-0000-7000-8000-000000000001"
	for _, c := range []struct {
		what    string
		id      string
		mode    Mode
		n       Lengths
		cut     Cut
		archive *Archive
	}{
		{"id", "x", Random, Lengths{1, 1, 1}, NoCut, nil},
		{"no mode", id, 0, Lengths{1, 1, 1}, NoCut, nil},
		{"mode 9", id, 9, Lengths{1, 1, 1}, NoCut, nil},
		{"empty stream", id, Random, Lengths{1, 0, 1}, NoCut, nil},
		{"negative stream", id, Random, Lengths{5, -1, 1}, NoCut, nil},
		{"too many", id, Random, Lengths{1, MaxRolls - 1, 1}, NoCut, nil},
		{"cut", id, Random, Lengths{1, 1, 1}, "", nil},
		{"real without archive", id, Real, Lengths{1, 1, 10}, NoCut, nil},
		{"archive of another length", id, Real, Lengths{1, 1, 1}, NoCut, archive},
		{"archive in another mode", id, Equal, Lengths{1, 1, 10}, NoCut, archive},
	} {
		if _, err := Build(Secret{}, c.id, c.mode, c.n, c.cut, c.archive); err == nil {
			t.Errorf("%s: built", c.what)
		}
	}
}

func make12() []Dice {
	var list []Dice
	for i := range 12 {
		list = append(list, pair(3*i))
	}
	return list
}

// The tree agrees with package tlog for every size up to 130 and every leaf; a path opens its own leaf and no other.
func TestTreeAgreesWithTlog(t *testing.T) {
	for size := 1; size <= 130; size++ {
		keys, dice := make([]Hash, size), make([]Dice, size)
		var stored []tlog.Hash
		read := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
			var out []tlog.Hash
			for _, i := range at {
				out = append(out, stored[i])
			}
			return out, nil
		})
		for i := range keys {
			keys[i], dice[i] = Sum([]byte{byte(i), byte(size)}), pair(i%pairs)
			data := append(slices.Clone(keys[i][:]), dice[i].D1, dice[i].D2)
			hashes, err := tlog.StoredHashes(int64(i), data, read)
			if err != nil {
				t.Fatal(err)
			}
			stored = append(stored, hashes...)
		}
		tree, err := NewTree(keys, dice)
		if err != nil {
			t.Fatal(err)
		}
		root, err := tlog.TreeHash(int64(size), read)
		if err != nil {
			t.Fatal(err)
		}
		if Hash(root) != tree.Root() {
			t.Fatalf("size %d: root %s, want %s", size, tree.Root(), Hash(root))
		}
		for i := range keys {
			proof, err := tlog.ProveRecord(int64(size), int64(i), read)
			if err != nil {
				t.Fatal(err)
			}
			path := tree.Path(i)
			if len(path) != len(proof) {
				t.Fatalf("size %d leaf %d: path of %d hashes, want %d", size, i, len(path), len(proof))
			}
			for j := range proof {
				if Hash(proof[j]) != path[j] {
					t.Fatalf("size %d leaf %d: hash %d of the path differs", size, i, j)
				}
			}
			for other := range keys {
				got, err := rootOf(leafHash(&keys[i], dice[i]), other, size, path)
				if (err == nil && got == tree.Root()) != (other == i) {
					t.Fatalf("size %d: the path of leaf %d opens leaf %d: %v", size, i, other, err)
				}
			}
		}
	}
}

func TestOpeningVerifyRefuses(t *testing.T) {
	n := Lengths{3, 37, 41}
	q, err := Build(Secret{7}, "01970000-0000-7000-8000-000000000001", Random, n, NoCut, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		tamper func(o *Opening, n *Lengths)
	}{
		{"another die", func(o *Opening, _ *Lengths) { o.Dice.D1 = o.Dice.D1%6 + 1 }},
		{"dice swapped or equal", func(o *Opening, _ *Lengths) { o.Dice.D1, o.Dice.D2 = o.Dice.D2, o.Dice.D1%6+1 }},
		{"zero dice", func(o *Opening, _ *Lengths) { o.Dice = Dice{} }},
		{"die 7", func(o *Opening, _ *Lengths) { o.Dice.D1 = 7 }},
		{"another key", func(o *Opening, _ *Lengths) { o.Key[31] ^= 1 }},
		{"next index", func(o *Opening, _ *Lengths) { o.Index++ }},
		{"index outside", func(o *Opening, _ *Lengths) { o.Index = 37 }},
		{"negative index", func(o *Opening, _ *Lengths) { o.Index = -1 }},
		{"other stream", func(o *Opening, _ *Lengths) { o.Stream = StreamB }},
		{"no stream", func(o *Opening, _ *Lengths) { o.Stream = 3 }},
		{"path cut", func(o *Opening, _ *Lengths) { o.Path = o.Path[1:] }},
		{"path longer", func(o *Opening, _ *Lengths) { o.Path = append(o.Path, Hash{}) }},
		{"path empty", func(o *Opening, _ *Lengths) { o.Path = nil }},
		{"other lengths", func(_ *Opening, n *Lengths) { n[0]++ }},
		{"bad lengths", func(_ *Opening, n *Lengths) { n[2] = MaxRolls + 1 }},
	} {
		t.Run(c.what, func(t *testing.T) {
			o, n := q.Open(StreamA, 5), n
			if err := o.Verify(q.Root(), n); err != nil {
				t.Fatal(err)
			}
			c.tamper(&o, &n)
			if err := o.Verify(q.Root(), n); err == nil {
				t.Error("verified")
			}
		})
	}
}
