package messages

var pageFiles []string

func pageText(string, string) string { return "" }
