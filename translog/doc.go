// Package translog reads and writes the texts of the append-only log: checkpoints, inclusion and consistency proofs,
// single proofs as files, witness cosignatures and trust policies. It is pure: no network, no clock, no storage.
//
// A verifier needs three steps to believe that a statement is in the log its friends see too:
//
//	cp, err := translog.OpenCheckpoint(signed, logKey)                  // the log signed this tree
//	err = translog.VerifyInclusion(translog.LeafHash(text), index, cp.Size, path, cp.Root)
//	err = policy.Check(signed, -1)                                      // enough witnesses saw the same tree
//
// and one more to know that nothing it was shown before has been taken back: VerifyConsistency between an older
// checkpoint and this one.
//
// The formats are those of C2SP: signed-note, tlog-checkpoint (Ed25519, no extension lines), tlog-cosignature/v1,
// tlog-policy, tlog-proof; the tree is that of RFC 6962. Everything is strict: a text that would not be printed
// back byte for byte is refused. PROTOCOL.md §1, §7; vectors, C7 and C8.
package translog
