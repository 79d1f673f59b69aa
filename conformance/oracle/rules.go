package oracle

import "slices"

// rules are the universal assertions in the order of their ids.
//
// It is filled in init because suiteRules refer to it.
var rules []rule

func init() {
	rules = slices.Concat(recordRules, successRules, placeRules, statusRules, usageRules, suiteRules)
}

// recordRules hold of every attempt that is owed a record (T1.19) and of every
// packet (all others).
var recordRules = []rule{
	{"T1.19", (*view).owed, onePacketThenEOF},
	{"T1.33", packetSeen, nil},
	{"T1.34", packetSeen, packetWhole},
	{"T1.35", packetSeen, nil},
	{"T1.36", packetSeen, nil},
	{"T1.37", packetSeen, nil},
	{"T1.38", packetSeen, ownAttempt},
	{"T1.39", packetSeen, ownFacade},
	{"T1.40", packetSeen, completeMeansSuccess},
	{"T1.41", packetSeen, nil},
	{"T1.42", packetSeen, nil},
	{"T1.43", packetSeen, argsFollowCatalog},
	{"T1.44", packetSeen, exitAgrees},
	{"T1.45", packetSeen, nil},
	{"T1.46", packetSeen, stageWhenStarted},
	{"T1.47", packetSeen, oneWaitStatus},
	{"T1.48", packetSeen, claimFollowsCatalog},
	{"T1.49", packetSeen, nil},
	{"T1.50", packetSeen, limitsResolved},
	{"T1.51", packetSeen, nil},
	{"T1.52", packetSeen, nil},
	{"T1.53", packetSeen, chargedOnce},
	{"T1.54", packetSeen, nil},
	{"T1.55", packetSeen, nil},
	{"T1.56", packetSeen, nil},
	{"T1.57", packetSeen, oneProbeByte},
	{"T1.58", packetSeen, withinLimits},
	{"T1.59", packetSeen, candidateLimit},
	{"T1.60", packetSeen, channelLimits},
	{"T1.62", packetSeen, unknownCandidateTotal},
	{"T1.66", packetSeen, statusCountsItself},
	{"T1.70", packetSeen, unmeasuredIsNull},
	{"T1.72", packetSeen, noForeignText},
	{"T1.74", packetSeen, classFollowsCode},
}

// successRules hold of every attempt that claims success: together they are
// the success predicate as a host can see it.
//
// Rules: R13.
var successRules = []rule{
	{"T1.18", (*view).claimsSuccess, oneDocument},
	{"T1.22", (*view).claimsSuccess, producerExitedZero},
	{"T1.23", (*view).claimsSuccess, documentIsSuccess},
	{"T1.24", (*view).claimsSuccess, noFailure},
	{"T1.25", (*view).claimsSuccess, candidateComplete},
	{"T1.27", recorded, deliveredAsRecorded},
	{"T1.28", (*view).claimsSuccess, withinBudgets},
	{"T1.29", recorded, endedBeforePacket},
	{"T1.30", (*view).claimsSuccess, reapedAndEmpty},
	{"T1.31", (*view).claimsSuccess, completeDelivered},
	{"T1.32", (*view).claimsSuccess, exitedZero},
	{"T1.61", (*view).claimsSuccess, candidateTotal},
	{"T1.63", (*view).claimsSuccess, reportIsCandidate},
	{"T1.65", (*view).claimsSuccess, diagnosticsWhole},
	{"T1.67", unusedSink, sinkAbsent},
	{"T1.73", (*view).claimsSuccess, nothingUnknown},
}

// statusRules say what T1.66 says, of the packet that the host counted.
var statusRules = []rule{
	{"T27.19", packetSeen, statusCountsItself},
}

// placeRules hold of every attempt whose producer was seen alive.
var placeRules = []rule{
	{"T22.13", sawMounts, hostNotMounted},
}

var usageRules = []rule{
	{"T34.01", packetSeen, nil}, {"T34.02", packetSeen, nil}, {"T34.03", packetSeen, nil},
	{"T34.04", packetSeen, nil}, {"T34.05", packetSeen, nil}, {"T34.06", packetSeen, nil},
	{"T34.07", packetSeen, nil}, {"T34.08", packetSeen, nil}, {"T34.09", packetSeen, nil},
	{"T34.10", packetSeen, nil}, {"T34.11", packetSeen, nil}, {"T34.12", packetSeen, nil},
	{"T34.13", packetSeen, nil}, {"T34.14", packetSeen, nil}, {"T34.15", packetSeen, nil},
	{"T34.16", packetSeen, nil}, {"T34.17", packetSeen, nil}, {"T34.18", packetSeen, nil},
	{"T34.19", packetSeen, nil}, {"T34.20", packetSeen, nil}, {"T34.21", packetSeen, nil},
	{"T34.22", packetSeen, nil}, {"T34.23", packetSeen, nil}, {"T34.24", packetSeen, nil},
	{"T34.25", packetSeen, nil}, {"T34.26", packetSeen, nil}, {"T34.27", packetSeen, nil},
	{"T34.28", packetSeen, nil}, {"T34.29", packetSeen, nil}, {"T34.30", packetSeen, nil},
	{"T34.31", packetSeen, nil}, {"T34.39", (*view).claimsSuccess, usageMatchesChannels},
	{"T34.40", packetSeen, admittedUsage},
}
