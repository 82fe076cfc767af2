package replay

import "fairdice/rules"

// Legal returns every event, dice apart, that may come next and keeps the game going or ends it by its rules: the moves of a
// due stage, one per distinct end position, cube events, and the end line. A roll is not among them (see [State.NextDraw]), nor is
// giving up, which is always possible.
func (st State) Legal(gen *rules.Generator) []Event {
	switch d := st.Due(); d.Kind {
	case DueStage, DueHanded:
		return st.LegalMoves(gen)
	case DueRoll:
		if st.MayDouble() {
			return []Event{{Kind: Double, Seat: d.Seat}}
		}
	case DueAnswer:
		events := []Event{{Kind: Take, Seat: d.Seat}, {Kind: Drop, Seat: d.Seat}}
		switch {
		case st.offer == offerDouble && st.setting.Options.Raise == RaiseBeaver:
			events = append(events, Event{Kind: Beaver, Seat: d.Seat})
		case st.offer == offerBeaver:
			events = append(events, Event{Kind: Raccoon, Seat: d.Seat})
		}
		return events
	case DueEnd:
		e, _ := st.EndDue()
		return []Event{e}
	}
	return nil
}

// LegalMoves returns one move event for every distinct legal end of the stage that is due, in the generator's order; a pass is the
// one move without steps. It returns nil if no stage is due.
func (st State) LegalMoves(gen *rules.Generator) []Event {
	if st.phase != phasePlay || st.game.Due() != rules.DueStage {
		return nil
	}
	r, stage := st.setting.Variant.Rules, st.game.Stage()
	plays := gen.List(r, st.Position(), stage)
	events := make([]Event, 0, max(1, len(plays)))
	for _, play := range plays {
		e := Event{Kind: Move, Seat: st.seat(stage.Mover)}
		for _, s := range play.Steps {
			e.Steps = append(e.Steps, hop(r, stage.Mover, s))
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		events = append(events, Event{Kind: Move, Seat: st.seat(stage.Mover)})
	}
	return events
}
