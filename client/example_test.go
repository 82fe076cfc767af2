package client_test

import (
	"context"
	"fmt"

	"fairdice/client"
)

// A platform opens a match, draws the first roll and shows it. Every call may
// be repeated for ever; the client repeats it by itself while that may help.
func ExampleClient() {
	ctx := context.Background()
	service, err := client.New("https://dice.example", client.WithKey("the platform's API key"))
	if err != nil {
		fmt.Println(err)
		return
	}
	terms := client.OpenRequest{Variant: "long-classic", Mode: client.ModeBalanced, A: client.Player{Token: "ada-7f3k"}, B: client.Player{Token: "ben-91xq"}}
	if _, err := service.OpenMatch(ctx, match, terms, 0); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := service.NextGame(ctx, match, 1, 0); err != nil {
		fmt.Println(err)
		return
	}
	roll, err := service.Draw(ctx, match, 1, 1, client.StreamOpening, 0)
	switch client.Code(err) {
	case "":
		fmt.Println(roll.Dice)
	case "awaiting-links":
		fmt.Println("the players have to release their links first")
	default:
		fmt.Println(err)
	}
}

// Watch follows a match over as many connections as it takes.
func ExampleClient_Watch() {
	service, err := client.New("https://dice.example")
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range service.Watch(context.Background(), match, "the players' view token", "") {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Line != nil {
			fmt.Println(e.Line.Game, e.Line.Line, e.Line.Text)
		}
	}
}
