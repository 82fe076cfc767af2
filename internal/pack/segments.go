package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// maxGap is how many zero bytes are written to make one segment of two. Longer
// runs of zeros, such as the room of variables, stay out.
const maxGap = 1 << 10

// dataSection is the id of the section with the initial memory (WebAssembly
// Core Specification 5.5.14).
const dataSection = 11

// join rewrites a module so that what is next to each other in memory is one
// segment. Go's linker leaves out every few zero bytes: some 65,000 segments,
// each with its address in full, which no compressor can guess. What the
// module puts into memory, which begins as zeros, stays the same.
func join(module []byte) ([]byte, error) {
	if len(module) < 8 || string(module[:4]) != "\x00asm" {
		return nil, errors.New("join segments: not a WebAssembly module")
	}
	out := append([]byte(nil), module[:8]...)
	for rest := module[8:]; len(rest) > 0; {
		id := rest[0]
		body, next, err := block(rest[1:])
		if err != nil {
			return nil, fmt.Errorf("join segments: section %d: %w", id, err)
		}
		rest = next
		if id == dataSection {
			segments, err := readSegments(body)
			if err != nil {
				return nil, fmt.Errorf("join segments: %w", err)
			}
			body = writeSegments(merge(segments))
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out, nil
}

// segment is what a module puts at one place of its memory.
type segment struct {
	at   uint64
	data []byte
}

var errShort = errors.New("the module ends too early")

// block reads a length and as many bytes.
func block(b []byte) (block, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, errShort
	}
	return b[size : size+int(n)], b[size+int(n):], nil
}

// Opcodes of the constant expression that is an address.
const (
	i32Const = 0x41
	end      = 0x0b
)

func readSegments(body []byte) ([]segment, error) {
	n, size := binary.Uvarint(body)
	if size <= 0 {
		return nil, errShort
	}
	rest := body[size:]
	var out []segment
	for range n {
		if len(rest) < 2 || rest[0] != 0 || rest[1] != i32Const {
			return nil, errors.New("a segment of another kind than an address in memory 0")
		}
		at, used, err := address(rest[2:])
		if err != nil {
			return nil, err
		}
		data, next, err := block(rest[2+used:])
		if err != nil {
			return nil, err
		}
		out, rest = append(out, segment{at, data}), next
	}
	if len(rest) > 0 {
		return nil, errors.New("something follows the segments")
	}
	slices.SortStableFunc(out, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	for i := range max(0, len(out)-1) {
		if out[i].at+uint64(len(out[i].data)) > out[i+1].at {
			return nil, errors.New("two segments overlap")
		}
	}
	return out, nil
}

// address reads a signed LEB128 number that must not be negative, and the end
// of its expression.
func address(b []byte) (at uint64, used int, err error) {
	for i := range min(len(b)-1, 5) {
		at |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			if b[i]&0x40 != 0 || b[i+1] != end {
				return 0, 0, errors.New("an address that is no plain number below 2^31")
			}
			return at, i + 2, nil
		}
	}
	return 0, 0, errShort
}

// merge joins segments that come in the order of their addresses.
func merge(segments []segment) []segment {
	var out []segment
	for _, s := range segments {
		if len(out) > 0 {
			last := &out[len(out)-1]
			if gap := s.at - last.at - uint64(len(last.data)); gap <= maxGap {
				last.data = append(append(last.data, make([]byte, gap)...), s.data...)
				continue
			}
		}
		out = append(out, segment{s.at, append([]byte(nil), s.data...)})
	}
	return out
}

func writeSegments(segments []segment) []byte {
	out := binary.AppendUvarint(nil, uint64(len(segments)))
	for _, s := range segments {
		out = append(out, 0, i32Const)
		for at := s.at; ; {
			low := byte(at & 0x7f)
			at >>= 7
			if at == 0 && low&0x40 == 0 {
				out = append(out, low, end)
				break
			}
			out = append(out, low|0x80)
		}
		out = binary.AppendUvarint(out, uint64(len(s.data)))
		out = append(out, s.data...)
	}
	return out
}
