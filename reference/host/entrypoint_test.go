package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRealEntrypoint: the other facade, by its variables, with the real tools
// and the system's compiler.
func TestRealEntrypoint(t *testing.T) {
	bin, in := requireRoot(t), t.TempDir()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("not run: needs g++")
	}
	headers, err := filepath.Glob("../entrypoint/include/*.hpp")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"go", "build", "-o", bin + "/", "../cmd/reftranspile", "../cmd/refbind"},
		append([]string{"install", "-D", "-m", "644", "-t", bin + "/include", "../../fixtures/native/engine_abi.h"}, headers...),
		{"cp", bin + "/chart.csv", in + "/ohlcv.csv"},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command[0], err, output)
		}
	}
	pairing := bin + "/pairing-entrypoint.json"
	content := fmt.Sprintf(`{"version":1,"producer":{"path":"%[1]s/producer"},"jail":{"path":"%[1]s/jail"},"finalizer":{"path":"%[1]s/reffinal"},`+
		`"uids":{"first":200000,"count":4096},"system":["/usr","/lib","/lib64","/bin","/etc/ld.so.cache"],"scratch_bytes":8388608,`+
		`"scratch_files":256,"transpiler":{"path":"%[1]s/reftranspile"},"compiler":{"path":"/usr/bin/g++","arguments":["-std=c++17",`+
		`"-fPIC","-shared"]},"binder":{"path":"%[1]s/refbind"}}`, bin)
	if err := os.WriteFile(pairing, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(env ...string) result {
		return launch{command: []string{bin + "/refsup", "entrypoint"}, flags: []string{"--invocation", "entrypoint"}, pairing: pairing,
			env: append([]string{"PINEFORGE_PREFIX=" + bin, "PINEFORGE_CHANNEL_WALL_MS=60000"}, env...)}.run(t)
	}
	run("PINEFORGE_IN_DIR="+in).wants(t, ExitRejected, `rejected run_request_invalid{"option":"arguments"} supervisor`) // nothing is mounted: exit 2
	strategy := "#include <strategy.hpp>\nstruct own final : touchstone::strategy {\n" +
		"\tdouble *input(const std::string &) override { return nullptr; }\n\tvoid bar() override {}\n};\nTOUCHSTONE_STRATEGY(own)\n"
	if err := os.WriteFile(in+"/strategy.cpp", []byte(strategy), 0o644); err != nil {
		t.Fatal(err)
	}
	run("PINEFORGE_IN_DIR="+in).wants(t, ExitAccepted, "accepted")
	run("PINEFORGE_IN_DIR="+in, "PINEFORGE_REPORT_MAX_BYTES=x").wants(t, ExitRejected,
		`rejected run_request_invalid{"option":"arguments"} supervisor`)
}
