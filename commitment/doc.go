// Package commitment is the arithmetic of fair dice: secrets, byte streams, the eight dice modes, roll trees, players'
// chains and the cut, and the exact texts of statements and receipts. It is pure bytes: no clock, no network, no storage;
// randomness enters through an io.Reader. Every value is defined by PROTOCOL.md, version 1, and can be computed with
// SHA-256, HMAC and Ed25519 of any standard library.
//
// # The tour
//
// The house seals. It draws a Secret, builds the Sequence that follows from it with no cut, and publishes a Commit with
// two hashes: of the secret, and of the roll tree. From now on it cannot change its mind.
//
//	secret, err := commitment.NewSecret(rand.Reader)
//	seq, err := commitment.Build(secret, id, commitment.Random, commitment.DefaultLengths(), commitment.NoCut, nil)
//	text, err := commitment.Encode(commitment.Commit{SecretHash: secret.Hash(), Root: seq.Root(), …})
//
// The players cut. Each has a Chain whose Anchor he published before the house chose the sequence (an Assign), and
// releases one link. A beacon's signature may join them. NewCut hashes what is there: nobody could choose it.
//
//	link, err := chain.Link(1)                      // LinkHash(link) == chain.Anchor()
//	cut := commitment.NewCut(match, game, segment, &linkA, &linkB, signature)
//
// The house deals. It builds the sequence again with the cut and publishes the new root (a Deal) before the first roll.
//
// It opens each roll as it is drawn: an Opening is the roll's key, its dice and about ten hashes, and says nothing of any
// other roll. The player checks it alone:
//
//	err := opening.Verify(deal.Root, commit.Rolls)
//
// and keeps the signed Receipt. In mode live the dice do not exist before both players have released a further link for this
// very throw: LiveDice.
//
// The house reveals. When the game ends its Close carries the secret, and everybody can Build both trees again, compare
// all roots, walk both chains with Follow and test the law of the mode with CheckLaw.
//
// # Texts
//
// Exact bytes are hashed, never a value printed again by somebody else's library. Parse and ParseReceipt are therefore
// strict: what they accept prints back byte for byte. Encode and Receipt.Sign are the doors to publish by; a value's Text
// alone prints whatever is in the struct. Errors of the parsers are *ParseError, with the line and a stable code.
//
// # What to keep secret
//
// Secret, SignerKey, Chain and Sequence print no secrets through package fmt, log/slog or encoding/json. Secret.Reveal,
// SignerKey.Reveal and Chain.Seed say in their names what they do.
package commitment
