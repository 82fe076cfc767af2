package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// never is the expiry of a key that has none.
const never = "never"

// maxSpan is the longest time that can be asked for, in days: a century is
// a slip of the pen.
const maxSpan = 36500

// parseExpiry reads when a key ends: "never" (or nothing), a time from now as
// parseSpan has it, the last day on which it works (UTC), or an instant of RFC 3339.
func parseExpiry(text string, now time.Time) (time.Time, error) {
	if text == never || text == "" {
		return time.Time{}, nil
	}
	end, err := time.Parse(time.DateOnly, text)
	if err == nil {
		end = end.AddDate(0, 0, 1)
	} else if end, err = time.Parse(time.RFC3339, text); err != nil {
		span, err := parseSpan(text)
		if err != nil {
			return time.Time{}, fmt.Errorf("expires %.40q is not never, a time like 90d or 12h, a date like 2027-01-31 or an instant like 2027-01-31T18:00:00Z", text)
		}
		end = now.Add(span)
	}
	end = end.UTC().Truncate(time.Second)
	switch {
	case !end.After(now):
		return time.Time{}, fmt.Errorf("expires %s is not in the future", text)
	case end.After(now.AddDate(0, 0, maxSpan)):
		return time.Time{}, fmt.Errorf("expires %s is more than %d days ahead; never is a key without an end", text, maxSpan)
	}
	return end, nil
}

// parseSpan reads whole days (90d), or a duration as Go has it (36h, 90m).
func parseSpan(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > maxSpan {
			return 0, fmt.Errorf("%.40q is not 0d to %dd", text, maxSpan)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxSpan*24*time.Hour {
		return 0, fmt.Errorf("%.40q is not a time like 7d, 24h or 30m", text)
	}
	return d, nil
}
