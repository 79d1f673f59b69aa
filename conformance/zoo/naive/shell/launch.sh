#!/bin/sh
# naive-shell is a launcher that must fail certification: it runs the producer on the host's own endpoints and reports
# its exit status in a short record. The arguments are those of the run_json facade; NAIVE_PRODUCER names the producer,
# NAIVE_ATTEMPT_ID the attempt.
terminal= mode= operation= library= ohlcv=
while [ $# -gt 0 ]; do
	case $1 in
	--terminal-status-fd) terminal=$2; shift ;;
	--so) library=$2; shift ;;
	--ohlcv) ohlcv=$2; shift ;;
	--report-mode) mode=$2; shift ;;
	--capabilities-json | --validate-window-only) operation=$1 ;;
	*) shift ;;
	esac
	shift
done

"$NAIVE_PRODUCER" --so "$library" --ohlcv "$ohlcv" ${mode:+--report-mode "$mode"} $operation
status=$?
[ "$status" -eq 0 ] && class=success complete=true || class=producer_failure complete=false

# The shell redirects to single digits only; elsewhere the record is left out.
case $terminal in
[3-9])
	printf '{"schema":"pf-run-terminal","version":1,"contract":"supervised/v1","attempt_id":"%s","invocation":"run_json","complete":%s,"exit_class":"%s","exit_status":%s}\n' \
		"$NAIVE_ATTEMPT_ID" "$complete" "$class" "$status" >&"$terminal"
	;;
esac
exit "$status"
