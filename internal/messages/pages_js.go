package messages

func withPages(list []entry, _ string) []entry { return list }
