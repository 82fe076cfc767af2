package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newHealthcheck is for containers and supervisors, in whose images there is no curl.
func newHealthcheck(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the service on this machine whether it is ready; exit status 1 if it is not",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			address, err := reachable(cfg.listen)
			if err != nil {
				return err
			}
			scheme := "http"
			if cfg.tlsCert != "" {
				scheme = "https"
			}
			// The certificate is that of the service's name; this machine is asked by its address.
			client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			req, err := http.NewRequestWithContext(c.Context(), http.MethodGet, scheme+"://"+address+"/readyz", nil)
			if err != nil {
				return fmt.Errorf("ask service: %w", err)
			}
			resp, err := client.Do(req)
			if err != nil {
				return fmt.Errorf("ask service: %w", err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				why, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
				if err != nil {
					return fmt.Errorf("ask service: %w", err)
				}
				return fmt.Errorf("the service at %s is not ready: %s: %s", address, resp.Status, strings.TrimSpace(string(why)))
			}
			return nil
		},
	}
	s.flags(c, "listen", "tls-cert", "tls-key")
	return c
}

// reachable is where a service that listens on an address is found from here:
// one that listens everywhere is also here.
func reachable(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("read address to ask: %w", err)
	}
	switch ip := net.ParseIP(host); {
	case host == "":
		host = "127.0.0.1"
	case ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		host = "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port), nil
}
