package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"fairdice/house"
)

// room bounds the memory for files that strangers send. What counts is what
// has arrived: whoever opens many uploads and sends nothing holds nothing, and
// nobody else waits for him. The limit per address keeps one sender from
// filling the room with files that he sends in earnest.
type room struct {
	mu   sync.Mutex
	held int            // bytes
	of   map[string]int // files of an address
}

func newRoom() *room { return &room{of: make(map[string]int)} }

// upload is one file on its way, until leave.
type upload struct {
	room    *room
	address string
	held    int
}

func (m *room) enter(address string) (*upload, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[address] >= MaxFilesPerAddress {
		return nil, &house.Error{
			Code: rateLimited, Message: fmt.Sprintf("%d files of this address are on their way, the most there may be", MaxFilesPerAddress), RetryAfter: busyAgain,
		}
	}
	m.of[address]++
	return &upload{room: m, address: address}, nil
}

func (u *upload) leave() {
	u.room.mu.Lock()
	defer u.room.mu.Unlock()
	u.room.held -= u.held
	u.held = 0
	if u.room.of[u.address]--; u.room.of[u.address] == 0 {
		delete(u.room.of, u.address)
	}
}

// hold makes room for bytes that have arrived.
func (u *upload) hold(bytes int) error {
	u.room.mu.Lock()
	defer u.room.mu.Unlock()
	if u.room.held+bytes > MaxHeld {
		return errBusy
	}
	u.room.held += bytes
	u.held += bytes
	return nil
}

// read reads the file whole; nil is an empty one.
func (u *upload) read(body io.Reader) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	var data []byte
	for part := make([]byte, 32<<10); ; {
		n, err := body.Read(part)
		if err := u.hold(n); err != nil {
			return nil, err
		}
		data = append(data, part[:n]...)
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, unread(err, len(data))
		}
	}
}

type uploaderKey struct{}

func withUploader(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, uploaderKey{}, address)
}

// uploader is the address that a file comes from.
func uploader(ctx context.Context) string {
	address, _ := ctx.Value(uploaderKey{}).(string)
	return address
}
