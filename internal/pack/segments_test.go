package main

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// image is the memory that segments make.
func image(segments []segment) []byte {
	var memory []byte
	for _, s := range segments {
		if end := int(s.at) + len(s.data); end > len(memory) {
			memory = append(memory, make([]byte, end-len(memory))...)
		}
		copy(memory[s.at:], s.data)
	}
	return memory
}

func module(segments []segment) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00\x01\x01\x00")
	body := writeSegments(segments)
	out = append(binary.AppendUvarint(append(out, dataSection), uint64(len(body))), body...)
	return append(out, 0, 2, 1, 'x')
}

// A module that has been joined fills memory as before, keeps its other
// sections, and cannot be joined further.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var segments []segment
		at := uint64(0)
		for range rapid.IntRange(0, 20).Draw(t, "segments") {
			at += uint64(rapid.SampledFrom([]int{0, 1, 9, 63, 64, maxGap, maxGap + 1, 1 << 14}).Draw(t, "gap"))
			data := rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "data")
			segments = append(segments, segment{at, data})
			at += uint64(len(data))
		}
		joined, err := join(module(segments))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(joined, module(merge(segments))) {
			t.Fatal("the other sections have changed")
		}
		if diff := cmp.Diff(image(segments), image(merge(segments))); diff != "" {
			t.Fatal(diff)
		}
		again, err := join(joined)
		if err != nil || !bytes.Equal(again, joined) {
			t.Fatalf("a second pass changes it again: %v", err)
		}
	})
}

func TestJoinRefuses(t *testing.T) {
	good := module([]segment{{5, []byte("abc")}, {9, []byte("d")}})
	for name, bad := range map[string][]byte{
		"empty":     nil,
		"no module": []byte("hello, world"),
		"cut short": good[:len(good)-6],
		"overlap":   module([]segment{{9, []byte("abc")}, {11, []byte("d")}}),
		"passive":   bytes.Replace(good, []byte{0, i32Const}, []byte{1, i32Const}, 1),
	} {
		if _, err := join(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzJoin(f *testing.F) {
	f.Add(module([]segment{{5, []byte("abc")}, {9, []byte("d")}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if joined, err := join(data); err == nil {
			if again, err := join(joined); err != nil || !bytes.Equal(again, joined) {
				t.Errorf("a second pass changes it again: %v", err)
			}
		}
	})
}
