package replay

// Finding is one thing that is wrong with a record, in words for people and ids for machines.
type Finding struct {
	Game     int    // number of the game in the file, from 1; 0: not in a game
	Line     int    // 1-based line in the file
	Check    string // id of PROTOCOL.md §9
	Category string // stable code, finer than the check
	Message  string
	Why      error    // what the message is the English text of
	Refusal  *Refusal // what the state machine said, if it was asked
}

// NewFinding returns the finding for a refused event.
func NewFinding(game, line int, r *Refusal) Finding {
	return Finding{Game: game, Line: line, Check: r.Check, Category: r.Code, Message: r.Message, Why: r.Why, Refusal: r}
}
