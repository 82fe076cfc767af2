package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/beacon"
	"fairdice/replay"
	"fairdice/rules"
)

// A house that has waited for the round and dates its assign back gets past
// everything but a witness, whose clock it does not set: the level is not L1.
func TestBackdatedAssign(t *testing.T) {
	witnessClock := func() time.Time { return beacon.Time(recordedRound).Add(time.Minute) }
	b, policy, _ := newBeaconBench(t, witnessClock)
	ctx := t.Context()
	id := newID(t)
	must(t, second(b.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(single), Beacon: new(client.OpenRequestBeaconQuicknet),
		A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)))
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	b.pass(house.BeaconLead + time.Second)
	must(t, second(b.client.Dealt(ctx, id, 1, nil)))
	b.resign(id, 1, [2]*player.Player{})
	bundle, err := b.client.Bundle(ctx, id)
	must(t, err)
	r := audit.Verify(bundle, audit.Trust{Policy: policy})
	if r.Level != "L0" || r.LevelNote != audit.NoteUnwitnessed {
		t.Errorf("the backdated match is %s at %s, %s", r.Verdict, r.Level, r.LevelNote)
	}
}

// keys are those of a report's sentences.
func keys(r audit.Report) []string {
	var list []string
	for _, s := range r.Sentences {
		list = append(list, s.Key)
	}
	return list
}

// That a player has resigned, doubled or taken is the platform's word, and the
// verdict says so of every line that decides or raises.
func TestPlatformsWord(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	const cube = "raise=cube stake=win series=single crawford=off"
	id := newID(t)
	must(t, second(b.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(cube), A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)))
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	_, _, st := b.playOn(id, 1, setting(t, cube), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueRoll })
	on, other := st.OnTurn().String(), st.OnTurn().Other().String()
	line := b.game(id, 1).Lines + 1
	must(t, second(b.client.Append(ctx, id, 1, line, "double "+on, "take "+other, "resign "+on+" 1", "end "+other+" 2")))
	must(t, second(b.client.CloseGame(ctx, id, 1, 0)))
	got := keys(b.verified(id, "L0", audit.Trust{}))
	for _, want := range []string{"claim.decided", "claim.raised"} {
		if !slices.Contains(got, want) {
			t.Errorf("the verdict does not say %s: %v", want, got)
		}
	}
}

// A player who does not release a link loses by timeout; a house or platform
// that holds his link cannot say so.
func TestRefusedLink(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id, seats := b.openL2(single)
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	must(t, second(seats[0].Play(ctx, b.client, 1, 1)))
	if _, err := b.client.Append(ctx, id, 1, 1, "timeout A"); client.Code(err) != "not-due" {
		t.Errorf("a timeout of the player whose link is held: %v", err)
	}
	must(t, second(b.client.Append(ctx, id, 1, 1, "timeout B", "end A 2")))
	closed, err := b.client.CloseGame(ctx, id, 1, 0)
	must(t, err)
	if closed.Result != "A 2" {
		t.Errorf("result %s", closed.Result)
	}
	s, err := commitment.Parse([]byte(closed.Published.Statements[0].Text))
	must(t, err)
	if len(s.(commitment.Close).Secrets) != 1 {
		t.Error("the close does not reveal the secret of the game that was not dealt")
	}
}

// A platform that plays for dice only can rewrite legal moves: that is not
// prevented, and said. In a refereed game the receipts name the record they
// were drawn in, and the same is caught.
func TestRewrittenMoves(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id := b.openL0("short")
	_, _, st := b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool {
		return st.Due().Kind == replay.DueRoll && st.Throws()[1]+st.Throws()[2] == 4
	})
	on, other := st.OnTurn().String(), st.OnTurn().Other().String()
	must(t, second(b.client.Append(ctx, id, 1, b.game(id, 1).Lines+1, "resign "+on+" 1", "end "+other+" 1")))
	must(t, second(b.client.CloseGame(ctx, id, 1, 0)))
	bundle, err := b.client.Bundle(ctx, id)
	must(t, err)
	var file map[string]any
	must(t, json.Unmarshal(bundle, &file))
	game := file["games"].([]any)[0].(map[string]any)
	game["record"] = rewritten(t, game["record"].(string))
	forged, err := json.Marshal(file)
	must(t, err)
	r := audit.Verify(forged, audit.Trust{Key: b.logKey})
	if r.Verdict != audit.Failed || !slices.Contains(r.Failed(), audit.RecordHead) {
		t.Errorf("a rewritten refereed game is %s, failed %v", r.Verdict, r.Failed())
	}
	if slices.Contains(r.Failed(), audit.RulesMoves) {
		t.Error("the other move was not legal, so this proves nothing")
	}
}

// rewritten plays another legal move in the place of the last one of a record.
func rewritten(t *testing.T, text string) string {
	t.Helper()
	record, err := replay.ParseRecord([]byte(text))
	must(t, err)
	last := 0
	for i, line := range record.Lines {
		if strings.HasPrefix(line, "move") {
			last = i
		}
	}
	st := replay.Run(setting(t, single), record.Lines[:last]).Last
	for _, e := range st.LegalMoves(new(rules.Generator)) {
		if e.String() != record.Lines[last] {
			return strings.Replace(text, record.Lines[last]+"\n", fmt.Sprintln(e), 1)
		}
	}
	t.Fatal("the last move was forced")
	return ""
}
