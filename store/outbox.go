package store

import "time"

// Endpoint is an address of a tenant that is told of events.
type Endpoint struct {
	ID      string
	Tenant  string
	Address string   // a URL
	Events  []string // the types it takes; none: all
	Plain   bool     // http is allowed
	Sealed  []byte   // its signing key, encrypted; the id is associated data
	// OldSealed is the key before the last rotation, which signs too until OldEnds; nil: none.
	OldSealed []byte
	OldEnds   time.Time
	Created   time.Time
	Disabled  time.Time // since when nothing is sent to it; zero: it is
	Reason    string    // why not
	Version   int64
}

// MessageState is what became of a message.
type MessageState uint8

// A message is Waiting until it was Delivered, or Dead after its last attempt.
const (
	Waiting MessageState = iota
	Delivered
	Dead
)

// Message is what one endpoint is to be told of one event. The same event has
// the same id at every endpoint.
type Message struct {
	Endpoint, ID string
	Type         string
	Entry        int64 // of the statement it tells of, which is signed before anybody is told; -1: none
	Body         []byte
	Created      time.Time
	State        MessageState
	Attempts     int
	Due          time.Time // of the next attempt, or when it was delivered or given up
	Status       int       // of HTTP, of the last attempt; 0: no answer
	Failure      string    // what was wrong with the last attempt
	Version      int64
}

// Outbox counts messages by state.
type Outbox struct{ Waiting, Dead int64 }
