package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// pairLooked is how long the files of a certificate are believed to be the
	// same before a handshake looks again.
	pairLooked = time.Second
	// renewBefore is how long before its end a certificate should be renewed.
	renewBefore = 10 * 24 * time.Hour
)

// pair is the certificate the service shows, with its key. Whoever renews them
// replaces two files, one after the other, while callers arrive: between the
// two steps, and if the new ones are not good, the old one is shown. Connections
// that are open never notice.
type pair struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	shown  *tls.Certificate
	stamp  string // of the files it was read from
	looked time.Time
	failed string // what was last said in the log
}

func openPair(cert, key string, log *slog.Logger) (*pair, error) {
	p := &pair{cert: cert, key: key, log: log, looked: time.Now()}
	p.stamp = p.stamps() // before they are read: a change in between is seen as one
	var err error
	p.shown, err = readPair(cert, key)
	return p, err
}

func readPair(cert, key string) (*tls.Certificate, error) {
	secret, err := readPrivate(key)
	if err != nil {
		return nil, fmt.Errorf("read TLS key: %w", err)
	}
	public, err := os.ReadFile(cert)
	if err != nil {
		return nil, fmt.Errorf("read TLS certificate: %w", err)
	}
	c, err := tls.X509KeyPair(public, []byte(secret))
	if err != nil {
		return nil, fmt.Errorf("read TLS certificate %s with the key %s: %w", cert, key, err)
	}
	return &c, nil
}

// stamps tell one state of the files from another. Links that are turned to
// new files, as certbot and Kubernetes do it, are followed.
func (p *pair) stamps() string {
	var b strings.Builder
	for _, path := range []string{p.cert, p.key} {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%d %d\n", info.Size(), info.ModTime().UnixNano())
		} else {
			b.WriteString("-\n")
		}
	}
	return b.String()
}

// get is what a handshake asks for.
func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) < pairLooked {
		return p.shown, nil
	}
	p.looked = time.Now()
	stamp := p.stamps()
	if stamp == p.stamp {
		return p.shown, nil
	}
	next, err := readPair(p.cert, p.key)
	if err != nil {
		if text := err.Error(); text != p.failed {
			p.failed = text
			p.log.Error("the new TLS certificate cannot be used, the old one is shown", "error", err, "until", p.shown.Leaf.NotAfter)
		}
		return p.shown, nil
	}
	p.shown, p.stamp, p.failed = next, stamp, ""
	p.log.Info("new TLS certificate", "until", next.Leaf.NotAfter, "serial", next.Leaf.SerialNumber.String())
	return p.shown, nil
}

func (p *pair) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.get}
}

// privateNetworks are those from which no stranger calls over the internet.
var privateNetworks = []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}

// parseNetworks reads addresses and networks with commas between.
func parseNetworks(text string) (list []netip.Prefix, err error) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		n, err := netip.ParsePrefix(part)
		if err != nil {
			a, err := netip.ParseAddr(part)
			if err != nil || a.Zone() != "" {
				return nil, fmt.Errorf("%q is neither an address nor a network like 10.0.0.0/8", part)
			}
			n = netip.PrefixFrom(a, a.BitLen())
		}
		if n != n.Masked() {
			return nil, fmt.Errorf("%s is not a network: it has bits beyond its length; %s is meant, or one address", part, n.Masked())
		}
		if n.Addr().Is4In6() {
			return nil, fmt.Errorf("%q: write it as IPv4", part)
		}
		list = append(list, n)
	}
	return list, nil
}
