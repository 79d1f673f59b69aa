package evidence

// Launch is launch.json: what was started, and with which descriptors.
type Launch struct {
	Argv          []string       `json:"argv"`
	Environment   []string       `json:"environment"` // KEY=value, sorted
	Directory     string         `json:"directory"`   // working directory
	AttemptID     string         `json:"attempt_id"`  // issued by the host; "" for an unsupervised process
	Seed          string         `json:"seed"`        // drew the descriptor numbers, 32 hexadecimal digits
	Library       string         `json:"library"`     // the patched copy of the fixture
	LibrarySHA256 string         `json:"library_sha256"`
	Document      string         `json:"document"` // the rendered launch document, "" when there is none
	Pairing       string         `json:"pairing"`  // the rendered pairing file, "" when there is none
	Descriptors   []Descriptor   `json:"descriptors"`
	HostEndpoints []HostEndpoint `json:"host_endpoints"`
	Cgroups       []string       `json:"cgroups"` // leaves that the launcher was started in
}
