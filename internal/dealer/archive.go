package dealer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"golang.org/x/mod/sumdb/tlog"

	"fairdice/commitment"
)

// Archive writes the whole archive of the log as it is now, by file name.
func (h *House) Archive() map[string][]byte {
	size := len(h.Texts)
	files := map[string][]byte{
		"log.key":    []byte(h.Key + "\n"),
		"checkpoint": []byte(h.Checkpoint(size)),
	}
	files[fmt.Sprintf("checkpoints/%d", size)] = files["checkpoint"]
	h.tiles(files)
	for _, m := range h.matches {
		m.file(files)
	}
	for hash, text := range h.thrown {
		files["throws/"+hash.String()] = text
	}
	return files
}

// tiles writes the tiles of the log and its bundles of entries.
func (h *House) tiles(files map[string][]byte) {
	reader := h.proofs()
	for _, t := range tlog.NewTiles(8, 0, int64(len(h.Texts))) {
		data, err := tlog.ReadTileData(t, reader)
		h.must(err)
		files[tilePath(fmt.Sprint(t.L), t.N, t.W)] = data
	}
	for n := 0; n*256 < len(h.Texts); n++ {
		part := h.Texts[n*256 : min(len(h.Texts), n*256+256)]
		var data []byte
		for _, text := range part {
			data = append(binary.BigEndian.AppendUint16(data, uint16(len(text))), text...)
		}
		files[tilePath("entries", int64(n), len(part))] = data
	}
}

// tilePath is the path of C2SP tlog-tiles.
func tilePath(kind string, n int64, width int) string {
	name := fmt.Sprintf("%03d", n%1000)
	for n >= 1000 {
		n /= 1000
		name = fmt.Sprintf("x%03d/%s", n%1000, name)
	}
	if width < 256 {
		name += fmt.Sprintf(".p/%d", width)
	}
	return "tile/" + kind + "/" + name
}

// file writes the records and receipts of a match.
func (m *Match) file(files map[string][]byte) {
	type game struct {
		Game     int      `json:"game"`
		Record   string   `json:"record"`
		Receipts []string `json:"receipts"`
	}
	games := []game{}
	for _, g := range m.Games {
		if !g.Running {
			games = append(games, game{g.Number, g.Record, g.Receipts})
		}
	}
	if len(games) == 0 {
		return
	}
	id := m.Statement.Match
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	m.house.must(enc.Encode(map[string]any{"format": "fairdice/v1/match", "match": id, "games": games}))
	files[MatchPath(id)] = buf.Bytes()
}

// MatchPath is where an archive keeps a match.
func MatchPath(id string) string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("matches/%x/%s.json", sum[:1], id)
}

// MatchID returns the id of match n, from 0.
func (h *House) MatchID(n int) string { return h.matches[n].Statement.Match }

// MatchModes yields the ids of all matches with their modes.
func (h *House) MatchModes() iter.Seq2[string, commitment.Mode] {
	return func(yield func(string, commitment.Mode) bool) {
		for _, m := range h.matches {
			if !yield(m.Statement.Match, m.Mode) {
				return
			}
		}
	}
}
