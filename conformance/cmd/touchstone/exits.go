package main

import "touchstone/conformance/certify"

// exitStatus is one way in which a command ends.
type exitStatus struct {
	Status  int    `json:"status"`
	Meaning string `json:"meaning"`
}

// exits are the exit statuses of every command. They are only added to: others
// depend on them (testdata/exits.txt).
var exits = map[string][]exitStatus{
	"certify": {{certify.Conforming, "conforming"}, {certify.NotConforming, "not conforming"}, {certify.Undecided, "undecided, or with --full not full"},
		{certify.Stale, "stale declarations"}, {certify.Interrupted, "interrupted: cut short, with no certificate"}, wrongUsage, internal},
	"repro": {{certify.ReplayPassed, "everything passed this time"}, {certify.ReplaySame, "it did not pass again, the same way"},
		{certify.ReplayUndecided, "undecided"}, {certify.ReplayOther, "it failed otherwise"}, wrongUsage, internal},
	"rerun": {{certify.Conforming, "conforming, or nothing had failed"}, {certify.NotConforming, "not conforming"}, {certify.Undecided, "undecided"},
		{certify.Stale, "stale declarations"}, wrongUsage, internal},
	"show":        {{0, "shown"}, {1, "the transcript is not what the evidence holds, or the record cannot be decoded"}, wrongUsage, internal},
	"explain":     {{0, "explained"}, wrongUsage, internal},
	"list":        {{0, "listed"}, {1, "the tables of the checked document are not current"}, wrongUsage, internal},
	"recheck":     {{0, "the report follows from the evidence"}, {1, "it does not"}, wrongUsage, internal},
	"report":      {{0, "written"}, wrongUsage, internal},
	"verify":      {{0, "the certificate holds"}, {1, "it does not"}, wrongUsage, internal},
	"diff":        {{0, "nothing is worse"}, {1, "something is worse"}, wrongUsage, internal},
	"gate":        {{0, "the run may pass"}, {1, "it may not"}, wrongUsage, internal},
	"zoo run":     {{0, "every mistake found, nothing looser than before"}, {1, "not"}, wrongUsage, internal},
	"zoo list":    {{0, "listed"}, wrongUsage, internal},
	"zoo explain": {{0, "shown"}, wrongUsage, internal},
	"zoo alter":   {{0, "every assertion that passed noticed an alteration"}, {1, "some did not"}, wrongUsage, internal},
	"doctor":      {{0, "nothing required is missing"}, {1, "something required is missing"}, wrongUsage, internal},
	"manifest":    {{0, "printed"}, wrongUsage, internal},
	"completion":  {{0, "printed"}, wrongUsage, internal},
	"version":     {{0, "printed"}, wrongUsage, internal},
}

var (
	wrongUsage = exitStatus{certify.Usage, "usage: the request cannot be meant"}
	internal   = exitStatus{certify.Internal, "internal: a crash, or an output that cannot be written"}
)
