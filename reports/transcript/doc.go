// Package transcript writes the traffic of one attempt as a pcapng file, for
// readers who know packet tools: one interface a channel, one frame a read.
//
// Every frame starts with a header of ours, big endian, 16 bytes:
//
//	0  2  'T' 'S'
//	2  1  version, 1
//	3  1  channel: 1 report, 2 diagnostic, 3 terminal, 4 stdout, 5 stderr, 6 candidate, 7 sink
//	4  2  flags: 1 end of the channel, 2 the message was longer than what was read
//	6  2  zero
//	8  8  offset of the payload within its channel; for terminal the packet's index
//
// The payload follows: the bytes that were read, or one terminal packet. The
// link type is USER0 (147). Timestamps are wall-clock times computed from the
// monotonic stamps of the events, each later than the one before.
//
// The writer buffers: nothing is certain to be in the file before Close.
package transcript
