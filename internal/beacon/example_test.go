package beacon_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"time"

	"fairdice/internal/beacon"
)

func Example() {
	round := beacon.RoundFor(time.Date(2024, 10, 14, 17, 13, 17, 0, time.UTC))
	fmt.Println(round, beacon.Time(round).Format(time.RFC3339))

	signature, err := hex.DecodeString("929906c959032ab363c9f26570d215d66f5c06cb0c44fe508c12bb5839f04ec895bb6868e5b9ff13ab289bdb5266b394")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(beacon.Verify(round, signature))
	fmt.Println(errors.Is(beacon.Verify(round+1, signature), beacon.ErrSignature))
	// Output:
	// 12040883 2024-10-14T17:13:33Z
	// <nil>
	// true
}
