package commitment

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Generators of valid values.
var (
	drawHash = rapid.Custom(func(t *rapid.T) Hash {
		return Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
	})
	drawID = rapid.Custom(func(t *rapid.T) string {
		b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")
		b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	})
	drawToken = rapid.StringMatching(`[A-Za-z0-9._-]{1,64}`)
	drawName  = rapid.StringMatching(`[a-z]{1,20}[.]org/[!-*,-~]{0,30}`)
	drawTime  = rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 253402300799).Draw(t, "time"), 0).UTC()
	})
	drawNumber  = rapid.Uint64Range(0, MaxInteger)
	drawInt     = rapid.IntRange(0, MaxInteger)
	drawGame    = rapid.IntRange(1, MaxInteger)
	drawSegment = rapid.IntRange(1, MaxSegments)
	drawMode    = rapid.SampledFrom(Modes())
)

func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if rapid.Bool().Draw(t, label+" given") {
		return new(g.Draw(t, label))
	}
	return nil
}

func drawSecrets(t *rapid.T) []RevealedSecret {
	var list []RevealedSecret
	for range rapid.IntRange(0, MaxSegments).Draw(t, "secrets") {
		list = append(list, RevealedSecret{drawID.Draw(t, "id"), Secret(drawHash.Draw(t, "secret"))})
	}
	return list
}

func drawSignature(t *rapid.T) []byte {
	if rapid.Bool().Draw(t, "signature given") {
		return rapid.SliceOfN(rapid.Byte(), SignatureSize, SignatureSize).Draw(t, "signature")
	}
	return nil
}

func drawUsed(t *rapid.T) Lengths {
	return Lengths{drawInt.Draw(t, "opening"), drawInt.Draw(t, "a"), drawInt.Draw(t, "b")}
}

func drawOpen(t *rapid.T) Open {
	key := VerifierKey{Name: drawName.Draw(t, "key name"), Algorithm: AlgSignature, Public: drawHash.Draw(t, "key")}
	o := Open{
		Log: drawName.Draw(t, "log"), Match: drawID.Draw(t, "match"), Tenant: drawToken.Draw(t, "tenant"),
		Variant: rapid.SampledFrom(Variants()).Draw(t, "variant"), RulesVersion: drawToken.Draw(t, "version"), RulesHash: drawHash.Draw(t, "rules"),
		Mode: drawMode.Draw(t, "mode"), Profile: rapid.SampledFrom([]Profile{Refereed, DiceOnly}).Draw(t, "profile"),
		A:       drawToken.Draw(t, "a"),
		AnchorA: optional(t, drawAnchor, "anchor a"), AnchorB: optional(t, drawAnchor, "anchor b"),
		Beacon: rapid.Bool().Draw(t, "beacon"), ReceiptKey: key.String(), Time: drawTime.Draw(t, "time"),
	}
	o.B = drawToken.Filter(func(s string) bool { return s != o.A }).Draw(t, "b")
	for i, k := range optionKeys {
		values := k.values
		if k.name == "series" {
			values = append([]string{"points:1", "points:25", "combined:7"}, values...)
		}
		if i > 0 {
			o.Options += " "
		}
		o.Options += k.name + "=" + rapid.SampledFrom(values).Draw(t, k.name)
	}
	if isLong(o.Variant) && rapid.Bool().Draw(t, "head55") {
		o.Options += " head55=general"
	}
	if o.Mode == Live {
		o.Profile, o.AnchorA, o.AnchorB = Refereed, new(drawAnchor.Draw(t, "anchor a")), new(drawAnchor.Draw(t, "anchor b"))
	}
	if o.AnchorA != nil && o.AnchorB != nil && o.AnchorA.Hash == o.AnchorB.Hash {
		o.AnchorB.Hash[0] ^= 1
	}
	return o
}

var drawAnchor = rapid.Custom(func(t *rapid.T) Anchor {
	return Anchor{drawHash.Draw(t, "anchor"), rapid.Bool().Draw(t, "custodial")}
})

var drawStatement = rapid.Custom(func(t *rapid.T) Statement {
	switch rapid.IntRange(0, 7).Draw(t, "type") {
	case 0:
		c := Commit{Log: drawName.Draw(t, "log"), Tenant: drawToken.Draw(t, "tenant"), Mode: drawMode.Draw(t, "mode"), Number: drawNumber.Draw(t, "number"),
			Sequence: drawID.Draw(t, "sequence"), Rolls: drawLengths.Draw(t, "rolls"), SecretHash: drawHash.Draw(t, "secret"), Root: drawHash.Draw(t, "root"), Time: drawTime.Draw(t, "time")}
		if c.Mode == Real {
			c.Archive = new(drawHash.Draw(t, "archive"))
		}
		return c
	case 1:
		return drawOpen(t)
	case 2:
		return Assign{drawID.Draw(t, "match"), drawGame.Draw(t, "game"), drawSegment.Draw(t, "segment"), drawID.Draw(t, "sequence"),
			drawNumber.Draw(t, "number"), optional(t, drawNumber, "round"), drawTime.Draw(t, "time")}
	case 3:
		d := Deal{Match: drawID.Draw(t, "match"), Game: drawGame.Draw(t, "game"), Segment: drawSegment.Draw(t, "segment"), Sequence: drawID.Draw(t, "sequence"),
			LinkA: optional(t, drawHash, "link a"), LinkB: optional(t, drawHash, "link b"), Signature: drawSignature(t), Root: drawHash.Draw(t, "root"), Time: drawTime.Draw(t, "time")}
		d.Cut = NewCut(d.Match, d.Game, d.Segment, d.LinkA, d.LinkB, d.Signature)
		return d
	case 4:
		c := Close{Match: drawID.Draw(t, "match"), Game: drawGame.Draw(t, "game"), Rolls: drawUsed(t), Receipt: optional(t, drawHash, "receipt"),
			RecordLines: drawInt.Draw(t, "lines"), RecordHead: drawHash.Draw(t, "head"), ScoreA: drawInt.Draw(t, "score a"), ScoreB: drawInt.Draw(t, "score b"),
			Secrets: drawSecrets(t), Time: drawTime.Draw(t, "time")}
		if seat := rapid.SampledFrom([]byte{'A', 'B', 0}).Draw(t, "seat"); seat != 0 {
			c.Result = Result{seat, drawGame.Draw(t, "points")}
		}
		return c
	case 5:
		return Abort{drawID.Draw(t, "match"), drawGame.Draw(t, "game"), rapid.SampledFrom([]string{"platform", "house"}).Draw(t, "by"), drawToken.Draw(t, "reason"),
			optional(t, drawHash, "link a"), optional(t, drawHash, "link b"), drawSignature(t), drawUsed(t), optional(t, drawHash, "receipt"),
			drawInt.Draw(t, "lines"), drawHash.Draw(t, "head"), drawSecrets(t), drawTime.Draw(t, "time")}
	case 6:
		return Retire{drawID.Draw(t, "sequence"), drawToken.Draw(t, "reason"), Secret(drawHash.Draw(t, "secret")), drawTime.Draw(t, "time")}
	default:
		return Finish{drawID.Draw(t, "match"), drawInt.Draw(t, "score a"), drawInt.Draw(t, "score b"),
			rapid.SampledFrom([]string{"decided", "abandoned"}).Draw(t, "reason"), drawTime.Draw(t, "time")}
	}
})

// What was put into a statement comes out of its text: no field is lost, moved or changed.
func TestStatementsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStatement.Draw(t, "statement")
		text, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, back); d != "" {
			t.Fatalf("-put +got\n%s", d)
		}
	})
}

func TestReceiptsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Receipt{Match: drawID.Draw(t, "match"), Game: drawGame.Draw(t, "game"), Segment: drawSegment.Draw(t, "segment"), Sequence: drawID.Draw(t, "sequence"),
			Stream: Stream(rapid.IntRange(0, 2).Draw(t, "stream")), Index: drawInt.Draw(t, "index"), Dice: pair(rapid.IntRange(0, pairs-1).Draw(t, "dice")),
			Key: drawHash.Draw(t, "key"), Previous: optional(t, drawHash, "previous"), RecordLines: drawInt.Draw(t, "lines"), RecordHead: drawHash.Draw(t, "head"), Time: drawTime.Draw(t, "time")}
		if rapid.Bool().Draw(t, "live") {
			r.Links = &[2]Hash{drawHash.Draw(t, "link a"), drawHash.Draw(t, "link b")}
		}
		back, err := ParseReceipt(r.Text())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, back); d != "" {
			t.Fatalf("-put +got\n%s", d)
		}
	})
}
