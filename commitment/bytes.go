package commitment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"strconv"
)

// A generator computes HMACs under one key G. The inner and outer states are computed once and restored by Reset, and
// the message is built in a scratch buffer, so that a roll key costs two compressions and no allocation.
type generator struct {
	mac hash.Hash
	msg []byte
}

func newGenerator(key Hash) *generator {
	return &generator{mac: hmac.New(sha256.New, key[:]), msg: make([]byte, 0, 256)}
}

// sum returns HMAC(G, msg) for the message that the caller built in g.msg.
func (g *generator) sum(out *Hash) {
	g.mac.Reset()
	g.mac.Write(g.msg)
	g.mac.Sum(out[:0])
}

// rollKey sets out to K = HMAC(G, "fairdice/v1 key " s " " i "\n").
func (g *generator) rollKey(out *Hash, st Stream, i int) {
	g.msg = append(g.msg[:0], "fairdice/v1 key "...)
	g.msg = append(g.msg, st.String()...)
	g.msg = append(g.msg, ' ')
	g.msg = strconv.AppendInt(g.msg, int64(i), 10)
	g.msg = append(g.msg, '\n')
	g.sum(out)
}

// A byteStream reads the bytes of one label (PROTOCOL.md §1): block j is HMAC(G, prefix j "\n"). Each label has its own
// read position; streams of one generator may be read in any order.
type byteStream struct {
	g      *generator
	prefix string
	block  uint64 // number of the next block
	buf    Hash
	pos    int // next unread byte of buf
}

// stream returns the bytes of a label from position 0.
func (g *generator) stream(label string) *byteStream {
	return g.blocks("fairdice/v1 bytes " + label + " ")
}

func (g *generator) blocks(prefix string) *byteStream {
	return &byteStream{g: g, prefix: prefix, pos: len(Hash{})}
}

func (b *byteStream) next() byte {
	if b.pos == len(b.buf) {
		b.g.msg = append(b.g.msg[:0], b.prefix...)
		b.g.msg = strconv.AppendUint(b.g.msg, b.block, 10)
		b.g.msg = append(b.g.msg, '\n')
		b.g.sum(&b.buf)
		b.block++
		b.pos = 0
	}
	v := b.buf[b.pos]
	b.pos++
	return v
}

// uniform is U(L, n) for 2 ≤ n ≤ 256: uniform on 0…n−1, because bytes of the last, incomplete run of n are discarded.
func (b *byteStream) uniform(n int) int {
	limit := 256 - 256%n
	for {
		if v := int(b.next()); v < limit {
			return v % n
		}
	}
}

// pair is pair(U(L, 36)).
func (b *byteStream) pair() Dice { return pair(b.uniform(pairs)) }

// shuffle is shuffle(L, list): Fisher–Yates from the end.
func (b *byteStream) shuffle(list []uint8) {
	for i := len(list) - 1; i >= 1; i-- {
		j := b.uniform(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// below reads 8-byte big-endian integers and reduces the first one below floor(2^64 / n)·n modulo n ≥ 1. When n is a
// power of two that bound is 2^64 and nothing is discarded.
func (b *byteStream) below(n uint64) uint64 {
	excess := (math.MaxUint64%n + 1) % n // 2^64 mod n
	for {
		var raw [8]byte
		for i := range raw {
			raw[i] = b.next()
		}
		if v := binary.BigEndian.Uint64(raw[:]); excess == 0 || v < -excess {
			return v % n
		}
	}
}
