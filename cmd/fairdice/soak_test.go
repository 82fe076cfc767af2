package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairdice/client"
	"fairdice/house"
	"fairdice/internal/selfplay"
)

// soakGames is how many games are played to their end between two looks; FAIRDICE_SOAK says
// how many looks there are, and takes as many times some seconds.
const (
	soakGames   = 16
	soakRounds  = 5
	soakWarming = 2         // rounds until pools and connections have their size
	tableSize   = 128 << 10 // bytes of a match that stays in memory, most of it the roll tree
)

// A service that has played much is no larger at rest than one that has played
// little: goroutines, open files, and what lives in the heap after a collection.
// The last house.TablesInMemory matches stay in memory by intent.
func TestSoak(t *testing.T) {
	t.Parallel()
	rounds := soakRounds
	if n, err := strconv.Atoi(os.Getenv("FAIRDICE_SOAK")); err == nil {
		rounds = max(n, soakWarming+2)
	}
	watch := freeAddress(t)
	p := startProcess(t, t.TempDir(), freeAddress(t), "--metrics-listen", watch, "--pprof")
	var looks []map[string]float64
	for i := range rounds {
		transport := &http.Transport{MaxIdleConnsPerHost: benchClients}
		c, err := client.New(p.url, client.WithKey(p.apiKey), client.WithHTTP(&http.Client{Transport: transport}))
		if err != nil {
			t.Fatal(err)
		}
		spread(t, soakGames, func(n int) error {
			host := croupier{api: c, match: benchID(t), moves: selfplay.New(selfplay.Greedy, uint64(n))}
			if _, err := c.OpenMatch(t.Context(), host.match, benchTerms, 0); err != nil {
				return err
			}
			_, _, err := host.game(t.Context(), shortSetting(t))
			return err
		})
		transport.CloseIdleConnections()
		looks = append(looks, atRest(t, watch))
		t.Logf("round %d: %v", i+1, looks[i])
	}
	first := looks[soakWarming-1]
	for name, slack := range atRestMetrics {
		least := min(looks[len(looks)-1][name], looks[len(looks)-2][name]) // what leaks does not come back
		if name == "go_memstats_heap_alloc_bytes" {
			slack += float64(min((rounds-soakWarming)*soakGames, house.TablesInMemory)) * tableSize
		}
		if least > first[name]+slack {
			t.Errorf("%s was %.0f after %d rounds, is %.0f at the end; %.0f more would do", name, first[name], soakWarming, least, slack)
		}
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, p.errors)
	}
}

// atRestMetrics are what is compared, each with what it may differ by.
var atRestMetrics = map[string]float64{
	"go_goroutines": 4, "process_open_fds": 4, "go_memstats_heap_alloc_bytes": 2 << 20,
}

// atRest waits until the requests of a round are over, has the garbage
// collected, and looks.
func atRest(t *testing.T, watch string) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	before := -1.0
	for same := 0; same < 3; time.Sleep(200 * time.Millisecond) {
		resp, err := http.Get("http://" + watch + "/debug/pprof/heap?gc=1")
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if resp, err = http.Get("http://" + watch + "/metrics"); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), " ")
			if _, asked := atRestMetrics[name]; asked {
				if found[name], err = strconv.ParseFloat(value, 64); err != nil {
					t.Fatal(err)
				}
			}
		}
		resp.Body.Close()
		if same++; found["go_goroutines"] != before {
			before, same = found["go_goroutines"], 0
		}
	}
	if len(found) != len(atRestMetrics) {
		t.Fatalf("the metrics have only %v", found)
	}
	return found
}
