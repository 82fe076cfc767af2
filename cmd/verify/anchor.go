//go:build !js

package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/translog"
)

// Exit statuses of anchor next: the house is not to be believed, or it is
// not time yet.
const (
	exitFailed     status = 1
	exitIncomplete status = 2
)

func anchorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "anchor new|next|show",
		Short: "make, keep and release your own chain of links",
		Long: `A chain of links is your part in cutting the dice. Its anchor goes into the
match, and every link leaves only after this program has checked for itself
what the house has published. The state file is as secret as the links in it;
it belongs to one match.`,
		Example: `  verify anchor new --state ada.json --key "$(cat log.key)"`,
		Args:    noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.New("no command given: try verify anchor --help")
		},
	}
	cmd.AddCommand(anchorNew(), anchorNext(), anchorShow())
	return cmd
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no argument to give: %q", args[0])
	}
	return nil
}

func anchorNew() *cobra.Command {
	var state, key string
	var links int
	cmd := &cobra.Command{
		Use:   "new --state FILE --key VKEY",
		Short: "make a chain and print its anchor",
		Long: `Make a chain of links for one match and print its anchor, which the platform puts
into the match. The file is a secret, readable by you alone, and is never
overwritten: each match has its own.`,
		Example: `  verify anchor new --state ada.json --key "$(cat log.key)"`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			p, err := player.New(state, key, links, rand.Reader)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), p.Anchor())
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "`FILE` to keep the chain in; it must not exist")
	f.StringVar(&key, "key", "", "the log's verifier `VKEY`, pinned for good")
	f.IntVar(&links, "links", commitment.DefaultChain, "number of links; a used-up chain counts as a refusal")
	needed(cmd, "state", "key")
	return cmd
}

// needed marks flags of the command as required.
func needed(cmd *cobra.Command, names ...string) {
	for _, n := range names {
		if err := cmd.MarkFlagRequired(n); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// loadPlayer reads a chain; whatever is wrong with the file, its name is said.
func loadPlayer(state string) (*player.Player, error) {
	p, err := player.Load(state)
	if err == nil {
		return p, nil
	}
	if path, named := errors.AsType[*fs.PathError](err); named {
		err = path.Err
	}
	return nil, fmt.Errorf("read chain of links: %w: %s (verify anchor new makes one)", err, state)
}

// next is one link to be released.
type next struct {
	url, key, state      string
	terms                player.Terms
	game, segment, throw int
	asJSON               bool
}

func anchorNext() *cobra.Command {
	var n next
	cmd := &cobra.Command{
		Use:   "next --url URL --key VKEY --match ID --game N [--throw N] --state FILE",
		Short: "check what the house has published, then release the next link",
		Long: `Check what PROTOCOL.md 4 asks of a player, write down that the next link belongs
to this game and segment, or with --throw to this throw of a live game, and only
then release it. The same command again releases the same link.

Give what you have agreed to play: whatever is given is compared with what the
house has published. Exit status: 0 released, 1 the house is not to be believed
and no link has left, 2 it is not time or the service did not answer, 3 wrong usage,
or the file is an old copy that does not know of all links that have left.`,
		Example: `  verify anchor next --url https://dice.example --key "$(cat log.key)" --match ID --game 1 --state ada.json --variant short`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			return n.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.url, "url", "", "address of the service, `URL`")
	f.StringVar(&n.key, "key", "", "the log's verifier `VKEY`; it must be the one the chain was made for")
	f.StringVar(&n.state, "state", "", "`FILE` of the chain")
	f.StringVar(&n.terms.Match, "match", "", "`ID` of the match")
	f.IntVar(&n.game, "game", 0, "number of the game, from 1")
	f.IntVar(&n.segment, "segment", 0, "number of the segment, from 1 (default: the one the service waits for)")
	f.IntVar(&n.throw, "throw", 0, "number of the throw in the game, from 1: mode live (default: the link is for the cut)")
	f.StringVar(&n.terms.Token, "token", "", "your own token in the match")
	f.StringVar(&n.terms.Opponent, "opponent", "", "your opponent's token")
	f.StringVar(&n.terms.Tenant, "tenant", "", "the platform's name in the log")
	f.StringVar(&n.terms.Variant, "variant", "", "variant agreed on")
	f.StringVar(&n.terms.Rules, "rules", "", "hash of its rules, 64 `HEX` digits")
	f.StringVar(&n.terms.Mode, "mode", "", "dice mode agreed on")
	f.StringVar(&n.terms.Profile, "profile", "", "profile agreed on")
	f.StringVar(&n.terms.Beacon, "beacon", "", "none or quicknet, as agreed on")
	f.StringVar(&n.terms.Options, "options", "", "options agreed on, in the form of the open")
	f.BoolVar(&n.asJSON, "json", false, "print what was released as JSON")
	needed(cmd, "url", "key", "match", "game", "state")
	return cmd
}

// releasedLink is what anchor next tells.
type releasedLink struct {
	Match   string `json:"match"`
	Game    int    `json:"game"`
	Segment int    `json:"segment"`
	Throw   int    `json:"throw,omitempty"`
	Seat    string `json:"seat"`
	State   string `json:"state,omitempty"` // of the segment
	Spent   int    `json:"spent"`
	Of      int    `json:"of"`
}

func (n *next) run(cmd *cobra.Command) error {
	if n.game < 1 || n.segment < 0 || n.throw < 0 || n.throw == 0 && cmd.Flags().Changed("throw") {
		return errors.New("games, segments and throws count from 1")
	}
	unlock, err := lockFile(n.state)
	if err != nil {
		return err
	}
	defer unlock()
	p, err := loadPlayer(n.state)
	if err != nil {
		return err
	}
	if p.Key() != n.key {
		return fmt.Errorf("the chain was made for another log key, %s: --key", p.Key())
	}
	if err := p.Join(n.terms); err != nil {
		return err
	}
	c, err := client.New(n.url)
	if err != nil {
		return err
	}
	told, err := n.release(cmd, p, c)
	if _, old := errors.AsType[*player.Outdated](err); old {
		return fmt.Errorf("%w: %s", err, n.state)
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "verify: %v: %s\n", err, n.url)
		if _, distrusted := errors.AsType[*player.Distrust](err); distrusted {
			return exitFailed
		}
		return exitIncomplete
	}
	told.Spent, told.Of = p.Spent()
	if n.asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(told)
	}
	what := fmt.Sprintf("game %d, segment %d", told.Game, told.Segment)
	if told.Throw > 0 {
		what += fmt.Sprintf(", throw %d", told.Throw)
	}
	if told.State != "" {
		what += ": " + told.State
	}
	fmt.Fprintf(cmd.OutOrStdout(), "released link %d of %d, seat %s, %s\n", told.Spent, told.Of, told.Seat, what)
	return nil
}

func (n *next) release(cmd *cobra.Command, p *player.Player, c *client.Client) (releasedLink, error) {
	ctx := cmd.Context()
	out := releasedLink{Match: n.terms.Match, Game: n.game, Segment: n.segment, Throw: n.throw}
	if out.Segment == 0 {
		m, err := c.Match(ctx, n.terms.Match)
		if err != nil {
			return out, err
		}
		if n.game > len(m.Games) {
			return out, fmt.Errorf("the match has no game %d yet", n.game)
		}
		g := m.Games[n.game-1]
		if out.Segment = g.Segments; n.throw > 0 && g.Draw.Throw == n.throw {
			out.Segment = g.Draw.Segment
		}
	}
	if n.throw > 0 {
		taken, err := p.PlayThrow(ctx, c, n.game, out.Segment, n.throw)
		out.Seat = string(taken.Seat)
		return out, err
	}
	taken, err := p.Play(ctx, c, n.game, out.Segment)
	out.Seat, out.State = string(taken.Seat), string(taken.State)
	return out, err
}

// chainView is what anchor show tells: nothing that is secret.
type chainView struct {
	Anchor string `json:"anchor"`
	Key    string `json:"key"`
	Match  string `json:"match,omitempty"`
	Spent  int    `json:"spent"`
	Of     int    `json:"of"`
	Log    int64  `json:"log"` // size of the largest checkpoint seen
}

func anchorShow() *cobra.Command {
	var state string
	var asJSON, checkpoint bool
	cmd := &cobra.Command{
		Use:   "show --state FILE",
		Short: "print the anchor of a chain and how much of it is spent; nothing secret",
		Long: `Print the anchor of a chain, its match, how much of it is spent and what was seen
of the log; nothing secret.`,
		Example: "  verify anchor show --state ada.json\n  verify anchor show --state ada.json --checkpoint >seen",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			p, err := loadPlayer(state)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if checkpoint {
				if p.Checkpoint() == "" {
					return errors.New("no checkpoint was seen yet: " + state)
				}
				fmt.Fprint(out, p.Checkpoint())
				return nil
			}
			v := chainView{Anchor: p.Anchor().String(), Key: p.Key(), Match: p.Match()}
			v.Spent, v.Of = p.Spent()
			if p.Checkpoint() != "" {
				head, err := translog.ReadCheckpoint(p.Checkpoint())
				if err != nil {
					return fmt.Errorf("%w: %s", err, state)
				}
				v.Log = head.Size
			}
			if asJSON {
				return json.NewEncoder(out).Encode(v)
			}
			match := v.Match
			if match == "" {
				match = "none yet"
			}
			fmt.Fprintf(out, "anchor  %s\nmatch   %s\nlinks   %d of %d released\nlog     %s, %d entries seen\n", v.Anchor, match, v.Spent, v.Of, v.Key, v.Log)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "`FILE` of the chain")
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	f.BoolVar(&checkpoint, "checkpoint", false, "print the last checkpoint that was checked, which is evidence against a forked log")
	needed(cmd, "state")
	return cmd
}
