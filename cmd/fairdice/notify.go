package main

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// notify tells systemd (sd_notify(3), Type=notify) how the service stands:
// whoever starts after it starts when it answers, not when its process is there.
// Without systemd it does nothing.
func notify(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	c, err := net.Dial("unixgram", name) // a name with @ is an abstract one to both
	if err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	_, err = c.Write([]byte(state))
	if err := errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}
