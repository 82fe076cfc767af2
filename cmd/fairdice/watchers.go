package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/relay"
	"fairdice/translog"
	"fairdice/translog/witness"
)

// noBeacon is the value of beacon-relays that offers no matches with a beacon.
const noBeacon = "none"

// beacon is where rounds come from, nil if the service offers none.
func (c config) beacon() (house.Beacon, error) {
	if c.relays == "" || c.relays == noBeacon {
		return nil, nil
	}
	var list []string
	for r := range strings.SplitSeq(c.relays, ",") {
		list = append(list, strings.TrimSpace(r))
	}
	return relay.New(list, nil)
}

// watcher asks one witness, in this process or elsewhere, for the house.
type watcher struct {
	name  string
	asked interface {
		AddCheckpoint(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error)
	}
}

// Name is the witness's name.
func (w watcher) Name() string { return w.name }

// Cosign asks for cosignatures and says in the house's words where the witness stands.
func (w watcher) Cosign(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error) {
	lines, err := w.asked.AddCheckpoint(ctx, old, proof, signed)
	var conflict *witness.ConflictError
	if errors.As(err, &conflict) {
		return "", &house.StaleError{Size: conflict.Size}
	}
	return lines, err
}

// maxPolicy bounds what is read of a policy file, in bytes.
const maxPolicy = 256 << 10

// watched reads the policy file and makes a client of every witness in it
// that has an address.
func (c config) watched(logKey string) ([]house.Witness, *translog.Policy, error) {
	if c.policy == "" {
		return c.witnesses, c.trusted, nil
	}
	info, err := os.Stat(c.policy)
	if err == nil && info.Size() > maxPolicy {
		err = fmt.Errorf("%s is larger than %d bytes", c.policy, maxPolicy)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read policy: %w", err)
	}
	text, err := os.ReadFile(c.policy)
	if err != nil {
		return nil, nil, fmt.Errorf("read policy: %w", err)
	}
	p, err := translog.ParsePolicy(string(text))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, c.policy)
	}
	if logs := p.Logs(); len(logs) > 0 && !slices.Contains(logs, logKey) {
		return nil, nil, fmt.Errorf("read policy: %s trusts other logs than this one, whose key is %s", c.policy, logKey)
	}
	var list []house.Witness
	for name, w := range p.Witnesses() {
		if p.URL(name) == "" {
			continue
		}
		asked, err := witness.NewClient(p.URL(name), w.String(), nil)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %s", err, c.policy)
		}
		list = append(list, watcher{w.Name(), asked})
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("read policy: no witness in %s has an address to ask", c.policy)
	}
	return list, p, nil
}
