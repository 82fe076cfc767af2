package postgres

import (
	"encoding/binary"
	"fmt"
	"time"
)

// The types of the schema, and arrays of them, by their object ids in PostgreSQL.
const (
	oidBytea      = 17
	oidInt8       = 20
	oidText       = 25
	oidBytea1     = 1001
	oidText1      = 1009
	oidInt8Array1 = 1016
)

// encode is the binary form of a parameter. Three types and their arrays are
// all the schema has, so this replaces the reflection of a general driver; that
// the server expects the same types is checked when a statement is prepared.
func encode(a any) (value []byte, oid uint32) {
	switch a := a.(type) {
	case int:
		return number(int64(a)), oidInt8
	case int64:
		return number(a), oidInt8
	case uint8:
		return number(int64(a)), oidInt8
	case bool:
		if a {
			return number(1), oidInt8
		}
		return number(0), oidInt8
	case time.Time:
		return number(seconds(a)), oidInt8
	case string:
		return []byte(a), oidText
	case []byte:
		return a, oidBytea // nil is NULL
	case [32]byte:
		return a[:], oidBytea
	case []int64:
		return array(a, oidInt8, number), oidInt8Array1
	case []string:
		return array(a, oidText, func(s string) []byte { return []byte(s) }), oidText1
	case [][32]byte:
		return array(a, oidBytea, func(h [32]byte) []byte { return h[:] }), oidBytea1
	}
	panic(fmt.Sprintf("no column has the type %T", a))
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// array has one dimension that counts from 1 and no nulls.
func array[T any](elements []T, oid uint32, encode func(T) []byte) []byte {
	var b []byte
	if len(elements) == 0 {
		b = binary.BigEndian.AppendUint32(b, 0)
		b = binary.BigEndian.AppendUint32(b, 0)
		return binary.BigEndian.AppendUint32(b, oid)
	}
	for _, n := range []uint32{1, 0, oid, uint32(len(elements)), 1} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	for _, e := range elements {
		v := encode(e)
		b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
		b = append(b, v...)
	}
	return b
}

// seconds maps the zero time to 0 and back, so that "never" reads as zero.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// row reads the columns of one row, in binary. A value of another length than
// its type has means a damaged database; the first one is kept in err.
type row struct {
	values [][]byte
	err    error
}

func (r *row) fail(i int, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d has %d bytes, want %s", i, len(r.values[i]), want)
	}
}

func (r *row) int64(i int) int64 {
	if len(r.values[i]) != 8 {
		r.fail(i, "a number")
		return 0
	}
	return int64(binary.BigEndian.Uint64(r.values[i]))
}

func (r *row) int(i int) int     { return int(r.int64(i)) }
func (r *row) bool(i int) bool   { return r.int64(i) != 0 }
func (r *row) text(i int) string { return string(r.values[i]) }

// blob is nil for NULL and for no bytes. The row is valid only until the next.
func (r *row) blob(i int) []byte {
	if len(r.values[i]) == 0 {
		return nil
	}
	return append([]byte(nil), r.values[i]...)
}

func (r *row) hash(i int) (h [32]byte) {
	if copy(h[:], r.values[i]) != len(h) || len(r.values[i]) != len(h) {
		r.fail(i, "32")
	}
	return h
}

func (r *row) time(i int) time.Time {
	s := r.int64(i)
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}
