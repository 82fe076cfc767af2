package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// certificate writes a self-signed one for 127.0.0.1 in the place of the one before.
func certificate(t testing.TB, dir string, serial int64, life time.Duration) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shape := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(life),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, shape, shape, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	replace(t, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	replace(t, key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	return cert, key
}

func replace(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// serialShown is the serial number of the certificate that a new connection gets.
func serialShown(t *testing.T, s *service) int64 {
	t.Helper()
	s.pair.mu.Lock()
	s.pair.looked = time.Time{}
	s.pair.mu.Unlock()
	c, err := tls.Dial("tcp", s.listen.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// A certificate is renewed under load: no request fails, no connection is cut,
// and whatever the renewal does halfway or wrongly, the old one is shown on.
func TestCertificateRenewed(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir, 1, time.Hour)
	pool := x509.NewCertPool()
	if text, err := os.ReadFile(cert); err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	s, _ := startService(t, func(c *config) { c.tlsCert, c.tlsKey = cert, key })
	if !strings.HasPrefix(s.url(), "https://") {
		t.Fatalf("it serves %s", s.url())
	}
	var pools sync.Mutex
	trusted := &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(cs tls.ConnectionState) error {
		pools.Lock()
		defer pools.Unlock()
		_, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool})
		return err
	}}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			transport := &http.Transport{TLSClientConfig: trusted.Clone(), ForceAttemptHTTP2: i%2 == 0, DisableKeepAlives: i%3 == 0}
			defer transport.CloseIdleConnections()
			for {
				select {
				case <-stop:
					return
				default:
				}
				resp, err := (&http.Client{Transport: transport}).Get(s.url() + "/healthz")
				if err != nil {
					t.Errorf("a request during the renewal: %v", err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if want := map[bool]int{true: 2, false: 1}[i%2 == 0]; resp.ProtoMajor != want {
					t.Errorf("the answer is HTTP/%d, want %d", resp.ProtoMajor, want)
					return
				}
			}
		})
	}
	kept, err := tls.Dial("tcp", s.listen.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()

	for serial := int64(2); serial < 6; serial++ {
		next := t.TempDir()
		newCert, newKey := certificate(t, next, serial, time.Hour)
		pools.Lock()
		both := pool.Clone()
		text, err := os.ReadFile(newCert)
		if err != nil {
			t.Error(err)
		}
		both.AppendCertsFromPEM(text)
		pool = both
		pools.Unlock()
		secret, err := os.ReadFile(newKey)
		if err != nil {
			t.Error(err)
		}
		replace(t, cert, text)
		if got := serialShown(t, s); got != serial-1 {
			t.Errorf("with half a renewal %d is shown, want %d", got, serial-1)
		}
		replace(t, key, secret)
		if got := serialShown(t, s); got != serial {
			t.Errorf("after the renewal %d is shown, want %d", got, serial)
		}
	}
	for name, spoil := range map[string]func(){
		"not a certificate": func() { replace(t, cert, []byte("renewed\n")) },
		"no certificate":    func() { os.Remove(cert) },
		"an open key":       func() { certificate(t, dir, 7, time.Hour); os.Chmod(key, 0o644) },
	} {
		if spoil(); serialShown(t, s) != 5 {
			t.Errorf("%s: not the old certificate", name)
		}
	}
	if _, err := fmt.Fprint(kept, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Errorf("a connection from before: %v", err)
	}
	if answer, err := io.ReadAll(kept); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("a connection from before: %.40q, %v", answer, err)
	}
	close(stop)
	wg.Wait()
}

func TestOldTLS(t *testing.T) {
	cert, key := certificate(t, t.TempDir(), 1, time.Hour)
	s, _ := startService(t, func(c *config) { c.tlsCert, c.tlsKey = cert, key })
	c, err := tls.Dial("tcp", s.listen.Addr().String(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err == nil {
		c.Close()
		t.Error("TLS 1.1 is spoken")
	}
}

func TestNetworks(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "[]",
		"10.0.0.0/8, ::1":        "[10.0.0.0/8 ::1/128]",
		"192.0.2.7":              "[192.0.2.7/32]",
		"10.0.0.1/8":             "10.0.0.1/8 is not a network: it has bits beyond its length; 10.0.0.0/8 is meant, or one address",
		"proxy.example":          `"proxy.example" is neither an address nor a network like 10.0.0.0/8`,
		"fe80::1%eth0":           `"fe80::1%eth0" is neither an address nor a network like 10.0.0.0/8`,
		"::ffff:10.0.0.1":        `"::ffff:10.0.0.1": write it as IPv4`,
		joined(privateNetworks):  "[127.0.0.0/8 ::1/128 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7]",
		"10.0.0.0/8,10.0.0.0/33": `"10.0.0.0/33" is neither an address nor a network like 10.0.0.0/8`,
	} {
		list, err := parseNetworks(text)
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
