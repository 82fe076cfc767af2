package commitment_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/translog"
)

var update = flag.Bool("update", false, "rewrite the worked example in docs/protocol.md and its bundle")

// The worked example of docs/protocol.md §11: every secret is a row of counting bytes, everything else follows.
const (
	workedMatch    = "01970000-0000-7000-8000-000000000008"
	workedSequence = "01970000-0000-7000-8000-000000000001"
	workedOrigin   = "example.org/fairdice"
	workedDoc      = "../docs/protocol.md"
)

var workedLengths = commitment.Lengths{2, 3, 3}

// workedGame is the record of the example; its dice are those that the secret and the two links give.
var workedGame = []string{
	"opening 4 4",
	"opening 5 3",
	"move A 8/3 6/3",
	"roll B 3 1",
	"move B 8/5 6/5",
	"roll A 6 6",
	"move A 24/18 24/18 13/7 13/7",
	"roll B 2 5",
	"move B 13/11 13/8",
	"resign B 1",
	"end A 1",
}

// counting returns the 32 bytes from, from+1, …
func counting(from byte) (b [32]byte) {
	for i := range b {
		b[i] = from + byte(i)
	}
	return b
}

// second is a time of the example.
func second(s int) time.Time { return time.Date(2026, 11, 29, 21, 52, s, 0, time.UTC) }

// worked collects the blocks of the example by name, in order.
type worked struct {
	t      *testing.T
	names  []string
	blocks map[string]string

	log, receipts      note.Signer
	logKey, receiptKey string
	secret             commitment.Secret
	linkA, linkB       [3]commitment.Hash // v_0 … v_2
	cut                commitment.Cut
	key                commitment.Hash // game key G
	sealed, dealt      *commitment.Sequence
	header             replay.Header
	heads              []replay.Head
	signed             []string // receipts as notes
	last               commitment.Hash
	texts              [][]byte
	hashes             [][32]byte // of the log, in stored order
	bundle             workedFile
}

func (w *worked) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// block adds lines to a block.
func (w *worked) block(name, format string, args ...any) {
	if _, ok := w.blocks[name]; !ok {
		w.names = append(w.names, name)
	}
	w.blocks[name] += fmt.Sprintf(format, args...)
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// sum is SHA-256 of the parts, so that the example does not rest on the package it documents alone.
func sum(parts ...[]byte) commitment.Hash {
	return sha256.Sum256(bytes.Join(parts, nil))
}

// same fails if the package and the plain primitives of the example disagree.
func (w *worked) same(what string, got, want commitment.Hash) {
	w.t.Helper()
	if got != want {
		w.t.Fatalf("%s: the package says %s, plain hashing %s", what, got, want)
	}
}

func (w *worked) keys() {
	newKey := func(name string, from byte) (note.Signer, string) {
		seed := counting(from)
		skey, vkey, err := commitment.NewKey(name, bytes.NewReader(seed[:]))
		w.must(err)
		s, err := commitment.NewSigner(skey)
		w.must(err)
		return s, vkey
	}
	w.log, w.logKey = newKey(workedOrigin, 0x60)
	w.receipts, w.receiptKey = newKey(workedOrigin+"/receipts", 0x80)
	w.block("keys", "log seed      60 61 … 7f\nlog key       %s\nreceipt seed  80 81 … 9f\nreceipt key   %s\n", w.logKey, w.receiptKey)
}

func (w *worked) seal() {
	w.secret = counting(0)
	h := sum([]byte("fairdice/v1 secret\n"), w.secret[:])
	w.same("secret hash", w.secret.Hash(), h)
	g := commitment.Hash(mac(w.secret[:], "fairdice/v1 game "+workedSequence+" -\n"))
	w.same("sealed game key", commitment.GameKey(w.secret, workedSequence, commitment.NoCut), g)
	var err error
	w.sealed, err = commitment.Build(w.secret, workedSequence, commitment.Random, workedLengths, commitment.NoCut, nil)
	w.must(err)
	w.block("secret", "S            %s\nsecret-hash  %s\nG, cut -     %s\nroot, cut -  %s\n", w.secret.Reveal(), h, g, w.sealed.Root())
}

func (w *worked) chains() {
	for i, c := range []*[3]commitment.Hash{&w.linkA, &w.linkB} {
		c[2] = counting(byte(0x20 + 0x20*i))
		for t := 2; t > 0; t-- {
			c[t-1] = sum([]byte("fairdice/v1 link\n"), c[t][:])
			w.same("link", commitment.LinkHash(c[t]), c[t-1])
		}
		for t := 2; t >= 0; t-- {
			w.block("links", "%c v_%d  %s\n", 'A'+i, t, c[t])
		}
	}
	text := fmt.Sprintf("fairdice/v1 cut\n%s\n1\n1\n%s\n%s\n-\n", workedMatch, w.linkA[1], w.linkB[1])
	w.block("cut", "%s", text)
	w.cut = commitment.NewCut(workedMatch, 1, 1, &w.linkA[1], &w.linkB[1], nil)
	w.same("cut", hashOf(w.t, string(w.cut)), sum([]byte(text)))
	w.key = commitment.Hash(mac(w.secret[:], fmt.Sprintf("fairdice/v1 game %s %s\n", workedSequence, w.cut)))
	w.same("game key", commitment.GameKey(w.secret, workedSequence, w.cut), w.key)
	w.block("game-key", "X  %s\nG  %s\n", w.cut, w.key)
}

func hashOf(t *testing.T, s string) commitment.Hash {
	t.Helper()
	h, err := commitment.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// streams shows the bytes that are read, the ones discarded in brackets, and the dice they give.
func (w *worked) streams() {
	var err error
	w.dealt, err = commitment.Build(w.secret, workedSequence, commitment.Random, workedLengths, w.cut, nil)
	w.must(err)
	for _, st := range commitment.Streams() {
		read := mac(w.key[:], fmt.Sprintf("fairdice/v1 bytes %s 0\n", st))
		w.block("streams", "%-7s  %x…\n", st, read[:16])
		var steps []string
		at := 0
		for i := range workedLengths[st] {
			for ; read[at] >= 252; at++ {
				steps = append(steps, fmt.Sprintf("%02x = %d discarded", read[at], read[at]))
			}
			k := int(read[at]) % 36
			d := commitment.Dice{D1: uint8(k/6 + 1), D2: uint8(k%6 + 1)}
			if got := w.dealt.Dice(st, i); got != d {
				w.t.Fatalf("stream %s, element %d: the package says %s, plain hashing %s", st, i, got, d)
			}
			steps = append(steps, fmt.Sprintf("%02x = %d, mod 36 = %d: %s", read[at], read[at], k, d))
			at++
		}
		w.block("streams", "         %s\n", strings.Join(steps, "\n         "))
	}
}

func (w *worked) tree() {
	var level []commitment.Hash
	for _, st := range commitment.Streams() {
		for i := range workedLengths[st] {
			k := commitment.Hash(mac(w.key[:], fmt.Sprintf("fairdice/v1 key %s %d\n", st, i)))
			w.same("roll key", w.dealt.Key(st, i), k)
			d := w.dealt.Dice(st, i)
			leaf := sum([]byte{0}, k[:], []byte{d.D1, d.D2})
			w.block("leaves", "%d  %s %d, dice %s\n   K     %s\n   leaf  %s\n", len(level), st, i, d, k, leaf)
			level = append(level, leaf)
		}
	}
	for depth := 1; len(level) > 1; depth++ {
		var above []commitment.Hash
		for i := 0; i < len(level); i += 2 {
			n := sum([]byte{1}, level[i][:], level[i+1][:])
			above = append(above, n)
			w.block("tree", "%d.%d  %s\n", depth, i/2, n)
		}
		level = above
	}
	w.same("root", w.dealt.Root(), level[0])
}

func (w *worked) opening() {
	o := w.dealt.Open(commitment.StreamA, 0)
	w.must(o.Verify(w.dealt.Root(), workedLengths))
	w.block("opening", "{\"segment\":1,\"stream\":\"%s\",\"index\":%d,\"key\":\"%s\",\"path\":[\n", o.Stream, o.Index, o.Key)
	for i, h := range o.Path {
		end := ","
		if i == len(o.Path)-1 {
			end = "]}"
		}
		w.block("opening", " \"%s\"%s\n", h, end)
	}
}

// record prints the heads and proves with the rules that the game is one.
func (w *worked) record() {
	v, err := rules.Lookup("short")
	w.must(err)
	options, err := replay.ParseOptions("raise=none stake=win series=single crawford=off")
	w.must(err)
	w.header = replay.Header{Match: workedMatch, Game: 1, Variant: v.ID, Options: options}
	played := replay.Run(replay.Setting{Variant: v, Options: options, Game: 1}, workedGame)
	if played.Fault != nil || !played.Finished {
		w.t.Fatalf("the example is no game: %+v", played.Fault)
	}
	w.block("record", "%s", w.header.Text())
	head := sum([]byte(w.header.Text()))
	w.heads = []replay.Head{w.header.Head()}
	w.same("head 0", commitment.Hash(w.heads[0]), head)
	w.block("heads", "%2d  %s\n", 0, head)
	for i, line := range workedGame {
		w.block("record", "%s\n", line)
		w.heads = append(w.heads, w.heads[i].Next(line))
		head = sum(head[:], []byte(line+"\n"))
		w.same("head", commitment.Hash(w.heads[i+1]), head)
		w.block("heads", "%2d  %s\n", i+1, head)
	}
}

func (w *worked) draw() {
	var next [3]int
	var previous *commitment.Hash
	for i, r := range replay.Run(replay.Setting{Variant: mustVariant(w.t), Options: w.header.Options, Game: 1}, workedGame).Rolls {
		st, err := commitment.ParseStream(r.Stream)
		w.must(err)
		e := next[st]
		next[st]++
		if d := w.dealt.Dice(st, e); d.D1 != r.Dice.A || d.D2 != r.Dice.B {
			w.t.Fatalf("%q: the sequence gives %s", workedGame[r.Line-1], d)
		}
		receipt := commitment.Receipt{
			Match: workedMatch, Game: 1, Segment: 1, Sequence: workedSequence, Stream: st, Index: e, Dice: w.dealt.Dice(st, e),
			Key: w.dealt.Key(st, e), Previous: previous, RecordLines: r.Line - 1, RecordHead: commitment.Hash(w.heads[r.Line-1]), Time: second(20 + i),
		}
		signed, err := receipt.Sign(w.receipts)
		w.must(err)
		w.signed = append(w.signed, signed)
		h := sum(receipt.Text())
		w.same("receipt", receipt.Hash(), h)
		previous, w.last = &h, h
		if i == 3 {
			w.block("receipt", "%s", signed)
		}
		w.block("receipts", "%d  %s %d, record %d  %s\n", i, st, e, r.Line-1, h)
		o := w.dealt.Open(st, e)
		w.bundle.game().Openings = append(w.bundle.game().Openings, workedOpening{1, st.String(), e, o.Key, o.Path})
	}
	if n := len(w.bundle.game().Openings); n != 5 || next != [3]int{2, 1, 2} {
		w.t.Fatalf("%d rolls, %v per stream", n, next)
	}
}

func mustVariant(t *testing.T) rules.Variant {
	t.Helper()
	v, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// LogHashes makes worked the store of its own log's hashes.
func (w *worked) LogHashes(indexes []int64) ([][32]byte, error) {
	out := make([][32]byte, len(indexes))
	for i, x := range indexes {
		out[i] = w.hashes[x]
	}
	return out, nil
}

// publish writes the six statements into a log.
func (w *worked) publish() {
	v := mustVariant(w.t)
	statements := []commitment.Statement{
		commitment.Commit{Log: workedOrigin, Tenant: "club", Mode: commitment.Random, Sequence: workedSequence, Rolls: workedLengths,
			SecretHash: w.secret.Hash(), Root: w.sealed.Root(), Time: second(6)},
		commitment.Open{Log: workedOrigin, Match: workedMatch, Tenant: "club", Variant: v.ID, RulesVersion: rules.Version, RulesHash: v.Hash(),
			Mode: commitment.Random, Profile: commitment.Refereed, Options: w.header.Options.String(), A: "player-one", B: "player-two",
			AnchorA: &commitment.Anchor{Hash: w.linkA[0]}, AnchorB: &commitment.Anchor{Hash: w.linkB[0]}, ReceiptKey: w.receiptKey, Time: second(10)},
		commitment.Assign{Match: workedMatch, Game: 1, Segment: 1, Sequence: workedSequence, Time: second(11)},
		commitment.Deal{Match: workedMatch, Game: 1, Segment: 1, Sequence: workedSequence, LinkA: &w.linkA[1], LinkB: &w.linkB[1],
			Cut: w.cut, Root: w.dealt.Root(), Time: second(15)},
		commitment.Close{Match: workedMatch, Game: 1, Rolls: commitment.Lengths{2, 1, 2}, Receipt: &w.last, RecordLines: len(workedGame),
			RecordHead: commitment.Hash(w.heads[len(workedGame)]), Result: commitment.Result{Seat: 'A', Points: 1}, ScoreA: 1,
			Secrets: []commitment.RevealedSecret{{Sequence: workedSequence, Secret: w.secret}}, Time: second(40)},
		commitment.Finish{Match: workedMatch, ScoreA: 1, Reason: "decided", Time: second(40)},
	}
	for i, s := range statements {
		text, err := commitment.Encode(s)
		w.must(err)
		leaf := sum([]byte{0}, text)
		w.same("log leaf", translog.LeafHash(text), leaf)
		w.block("statement-"+s.Type(), "%s", text)
		w.block("log", "%d  %-6s  %s\n", i, s.Type(), leaf)
		w.texts = append(w.texts, text)
		added, err := translog.NewHashes(w, int64(i), text)
		w.must(err)
		w.hashes = append(w.hashes, added...)
	}
}

// checkpoint signs the log at a size.
func (w *worked) checkpoint(size int64) (translog.Checkpoint, string) {
	root, err := translog.Root(size, translog.Stored(w))
	w.must(err)
	c := translog.Checkpoint{Origin: workedOrigin, Size: size, Root: root}
	signed, err := translog.SignCheckpoint(c, w.log)
	w.must(err)
	return c, signed
}

// prove makes the checkpoints, the proofs and the bundle.
func (w *worked) prove() {
	early, earlySigned := w.checkpoint(3)
	own, ownSigned := w.checkpoint(6)
	w.block("checkpoint", "%s", ownSigned)
	proof, err := translog.Consistency(3, 6, translog.Stored(w))
	w.must(err)
	w.must(translog.VerifyConsistency(3, early.Root, 6, own.Root, proof))
	w.block("proofs", "root of size 3  %s\nroot of size 6  %s\n", early.Root, own.Root)
	b := &w.bundle
	b.Format = "fairdice/v1/bundle"
	b.Log = workedLog{Origin: workedOrigin, Key: w.logKey, Checkpoint: ownSigned, Earlier: []workedEarlier{{earlySigned, proof}}}
	for i, text := range w.texts {
		path, err := translog.Inclusion(6, int64(i), translog.Stored(w))
		w.must(err)
		b.Statements = append(b.Statements, workedStatement{i, string(text), path})
		if i == 3 {
			for _, h := range path {
				w.block("proofs", "path of 3       %s\n", h)
			}
		}
	}
	for _, h := range proof {
		w.block("proofs", "from 3 to 6     %s\n", h)
	}
	b.game().Game, b.game().Receipts = 1, w.signed
	b.game().Record = w.header.Text() + strings.Join(workedGame, "\n") + "\n"
}

// live shows what roll a 0 would have been in mode live, with the second links of both players.
func (w *worked) live() {
	k := w.dealt.Key(commitment.StreamA, 0)
	read := mac(k[:], fmt.Sprintf("fairdice/v1 live %s %s 0\n", w.linkA[2], w.linkB[2]))
	d := commitment.LiveDice(k, w.linkA[2], w.linkB[2])
	if k := int(read[0]) % 36; read[0] >= 252 || d != (commitment.Dice{D1: uint8(k/6 + 1), D2: uint8(k%6 + 1)}) {
		w.t.Fatalf("live throw: the package says %s for byte %d", d, read[0])
	}
	w.block("live", "block 0  %x…\n         %02x = %d, mod 36 = %d: %s\n", read[:16], read[0], read[0], read[0]%36, d)
}

func computeWorked(t *testing.T) *worked {
	w := &worked{t: t, blocks: map[string]string{}}
	for _, step := range []func(){w.keys, w.seal, w.chains, w.streams, w.tree, w.opening, w.record, w.draw, w.publish, w.prove, w.live} {
		step()
	}
	return w
}

// workedFence finds the example's blocks in the document.
var workedFence = regexp.MustCompile("(?m)^```text worked:([a-z-]+)\n((?s:.*?))^```$")

// TestWorkedExample computes every value of the worked example in docs/protocol.md §11 and compares the document, block by
// block, with what it computed. With -update it writes them there.
func TestWorkedExample(t *testing.T) {
	w := computeWorked(t)
	doc, err := os.ReadFile(workedDoc)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		doc = workedFence.ReplaceAllFunc(doc, func(block []byte) []byte {
			name := string(workedFence.FindSubmatch(block)[1])
			return []byte("```text worked:" + name + "\n" + w.blocks[name] + "```")
		})
		if err := os.WriteFile(workedDoc, doc, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var shown []string
	for _, m := range workedFence.FindAllStringSubmatch(string(doc), -1) {
		name, text := m[1], m[2]
		if slices.Contains(shown, name) {
			t.Errorf("block %s is there twice", name)
		}
		shown = append(shown, name)
		if diff := cmp.Diff(w.blocks[name], text); diff != "" {
			t.Errorf("block %s of the document (-computed +document):\n%s", name, diff)
		}
	}
	for _, name := range w.names {
		if !slices.Contains(shown, name) {
			t.Errorf("the document does not show block %s:\n%s", name, w.blocks[name])
		}
	}
}
