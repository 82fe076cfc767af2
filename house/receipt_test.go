package house_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/translog"
)

// TestReceiptKeyRotates: a match that is being played goes on with the key of
// its open, a new one gets the new key, and both are verified with their own.
func TestReceiptKeyRotates(t *testing.T) {
	b := newBench(t)
	running := b.open("short", single, nil, nil)
	running.begin(1)
	for range 3 {
		running.step(1)
	}
	skey, vkey, err := commitment.NewKey(origin+"/receipts", rand.NewChaCha8([32]byte{42}))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := commitment.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	old := house.ReceiptKey{Signer: b.config.Receipts, Public: b.config.ReceiptKey}
	b.config.Receipts, b.config.ReceiptKey, b.config.OldReceipts = signer, vkey, []house.ReceiptKey{old}
	b.restart()
	running.bench = b
	fresh := b.open("short", single, nil, nil)
	fresh.begin(1)
	for _, m := range []*match{running, fresh} {
		for m.step(1) {
		}
		if _, err := b.CloseGame(b.ctx(), b.p, m.id, 1, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []struct {
		id, key string
	}{{running.id, old.Public}, {fresh.id, vkey}} {
		ev, err := b.Evidence(b.ctx(), m.id)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range ev.Statements {
			if strings.HasPrefix(s.Text, "fairdice/v1/open\n") && !strings.Contains(s.Text, "\nreceipt-key "+m.key+"\n") {
				t.Errorf("statement %d names another receipt key:\n%s", i, s.Text)
			}
		}
		for _, note := range ev.Games[0].Receipts {
			if _, err := commitment.OpenReceipt(note, m.key); err != nil {
				t.Fatal(err)
			}
		}
	}

	// A key that a running match needs and nobody has is said, and nothing is drawn.
	b.config.OldReceipts = nil
	b.restart()
	b.config.Receipts, b.config.ReceiptKey = old.Signer, old.Public
	orphan := b.open("short", single, nil, nil) // under the new key
	orphan.begin(1)
	b.restart()
	stream, _ := orphan.state.NextDraw()
	_, err = b.Draw(b.ctx(), b.p, orphan.id, 1, 1, stream, 0)
	if e := code(t, err, house.Unavailable); !strings.Contains(e.Message, "receipt key") {
		t.Error(e)
	}
	for name, change := range map[string]func(*house.Config){
		"not its public half": func(c *house.Config) { c.ReceiptKey = vkey },
		"twice":               func(c *house.Config) { c.OldReceipts = []house.ReceiptKey{old} },
		"not a key":           func(c *house.Config) { c.OldReceipts = []house.ReceiptKey{{Signer: old.Signer, Public: "key"}} },
		"named otherwise":     func(c *house.Config) { c.Receipts, c.ReceiptKey = c.Log, c.LogKey },
	} {
		c := b.config
		change(&c)
		if h, err := house.New(b.ctx(), c); err == nil {
			h.Close()
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestProof: the C2SP tlog-proof of a statement stands alone.
func TestProof(t *testing.T) {
	b := newBench(t)
	b.open("short", single, nil, nil)
	size := b.logSize()
	for i := range size {
		b.checkProof(i)
	}
	for _, i := range []int64{-1, size, 1 << 60} {
		_, err := b.House.Proof(b.ctx(), i)
		code(t, err, house.NotFound)
	}
}

func (b *bench) checkProof(i int64) {
	b.t.Helper()
	text, err := b.House.Proof(b.ctx(), i)
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := translog.ParseProof(text)
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := b.Statement(b.ctx(), i, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := p.Verify([]byte(s.Statements[0].Text), b.config.LogVerifier); err != nil || p.Index != i {
		b.t.Errorf("proof of %d: %v", i, err)
	}
}
