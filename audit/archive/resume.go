package archive

import (
	"encoding/json"
	"fmt"
	"time"

	"fairdice/audit/stats"
)

// snapshot is how far an audit got: what it needs to go on with the matches
// that are not done. The first pass is made again; it is the shorter one, and
// the book is not worth the bytes.
type snapshot struct {
	Format     string   `json:"format"`
	Checkpoint string   `json:"checkpoint"` // the archive's, signed
	Key        string   `json:"key"`
	Signatures bool     `json:"signatures"`
	LogOnly    bool     `json:"logOnly"`
	Done       []byte   `json:"done"`
	Gathered   Gathered `json:"gathered"`
}

const snapshotFormat = "fairdice/v1/audit"

func isDone(bits []byte, n int) bool { return n/8 < len(bits) && bits[n/8]&(1<<(n%8)) != 0 }

func (a *auditor) setDone(n int) {
	for n/8 >= len(a.done) {
		a.done = append(a.done, 0)
	}
	a.done[n/8] |= 1 << (n % 8)
}

// resume takes up what an interrupted audit of the same archive has done.
func (a *auditor) resume() error {
	if len(a.Resume) == 0 {
		return nil
	}
	var s snapshot
	if err := json.Unmarshal(a.Resume, &s); err != nil || s.Format != snapshotFormat {
		return fmt.Errorf("resume audit: the saved state is not one (%v)", err)
	}
	want := a.snapshot()
	if s.Checkpoint != want.Checkpoint || s.Key != want.Key || s.Signatures != want.Signatures || s.LogOnly != want.LogOnly {
		return fmt.Errorf("resume audit: the saved state is of another archive, key or kind of audit")
	}
	a.done, a.gathered = s.Done, s.Gathered
	if a.gathered.Table == nil {
		a.gathered.Table = stats.NewTable()
	}
	return nil
}

func (a *auditor) snapshot() snapshot {
	return snapshot{
		Format: snapshotFormat, Checkpoint: a.raw, Key: a.Trust.LogKey(a.inside), Signatures: a.Signatures, LogOnly: a.logOnly,
		Done: a.done, Gathered: a.gathered,
	}
}

// save hands out the state of the audit.
func (a *auditor) save(last bool) error {
	a.saved = time.Now()
	if a.Save == nil || last && a.gathered.Matches == 0 {
		return nil
	}
	a.gathered.trim()
	data, err := json.Marshal(a.snapshot())
	if err != nil {
		return fmt.Errorf("save audit: %w", err)
	}
	return a.Save(data)
}
