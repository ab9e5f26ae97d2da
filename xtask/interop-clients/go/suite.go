package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

const waitMax = 60 * time.Second

// line is what is printed about an action.
type line struct {
	Action  string   `json:"action"`
	OK      *bool    `json:"ok,omitempty"`
	Detail  *string  `json:"detail,omitempty"`
	Skipped string   `json:"skipped,omitempty"`
	Seconds *float64 `json:"seconds,omitempty"`
}

// suite runs actions, named as in the suite's table, one after the other.
type suite struct {
	failed bool
}

// act calls an action, which returns what was seen.
func (s *suite) act(name string, action func() (string, error)) {
	start := time.Now()
	detail, err := action()
	ok := err == nil
	if !ok {
		detail = err.Error()
		s.failed = true
	}
	seconds := time.Since(start).Seconds()
	show(line{Action: name, OK: &ok, Detail: &detail, Seconds: &seconds})
}

// cannot notes what the client has no call for.
func (s *suite) cannot(name, why string) {
	show(line{Action: name, Skipped: why})
}

func show(l line) {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func (s *suite) exit() {
	if s.failed {
		os.Exit(1)
	}
}

// waitUntil looks until there is something to see; errors end it.
func waitUntil(what string, holds func() (bool, error)) error {
	for end := time.Now().Add(waitMax); ; time.Sleep(50 * time.Millisecond) {
		seen, err := holds()
		if err != nil || seen {
			return err
		}
		if time.Now().After(end) {
			return errors.New("not after " + waitMax.String() + ": " + what)
		}
	}
}
