// Package finalizer is the trusted verifier of the native sink (V): a process
// of its own that reads one stream of touchstone-sink/1 on stdin, retains it
// and says in its exit and in one receipt what it is worth. It loads no
// customer code.
//
// # Order
//
//  1. The old target is removed.
//  2. Everything up to EOF or the cap is received and retained, and verified
//     on the way. A stream that is already refused is still received to its
//     end, so that its writer never sees a closed peer instead of the verdict,
//     and the verdict does not depend on timing.
//  3. Verified: sync, close, rename. Otherwise what was retained is removed.
//  4. The receipt is written last. If it cannot be, a published target is
//     removed again: the target exists only beside exit 0.
//
// # Where the stream goes
//
//   - --out PATH: a private temporary in the same folder, renamed at the end.
//   - --out-fd N: an inherited regular file that nobody else writes, empty or
//     emptied here; blocks reserved beyond its end stay reserved.
//   - --out -: stdout, provisional until exit 0 and receipt.
//
// The process has no deadline of its own: who starts it kills it, and then
// removes a temporary (.reffinal-*) that is left beside a named target.
//
// Rules: R05, R08, R15, R17, C-76.
package finalizer
