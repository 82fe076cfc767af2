// Package player is a player who believes nobody: it makes his chain of
// links, keeps it, and releases a link only after it has checked for itself
// what PROTOCOL.md §4 asks of a client.
//
//	p, err := player.New("ada.json", logKey, commitment.DefaultChain, rand.Reader)
//	anchor := p.Anchor()                    // goes into the open
//	err = p.Join(player.Terms{Match: id, Token: "ada-7f3k", Variant: "short"})
//	err = p.Play(ctx, c, 1, 1)              // checks, remembers, releases
//
// Why each check is there: without the open in the log with his own anchor, a
// house-made link would take his place. Without the commit before the assign
// the house could pick a secret to its liking, and without the assign in a
// signed checkpoint it could pick a sequence after it has seen the link. A
// checkpoint that does not extend the last one means there are two logs, one
// of them for him alone. A second link for one segment, or an anchor used
// twice, would give the house two hands to choose from.
//
// The state file is written and synced before a link leaves: after a crash the
// same link is released again, never another.
package player
