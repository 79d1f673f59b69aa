package main

import "errors"

type sweepCommand struct{}

// Run sweeps.
func (c *sweepCommand) Run() error { return errors.New("sweep: not built yet") }
