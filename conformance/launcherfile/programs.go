package launcherfile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// beside finds what a text names in the folder of the binaries or of the file.
var beside = regexp.MustCompile(`\{(?:bin|here)\}/[A-Za-z0-9._/+-]+`)

// Absent is what the file names and this machine does not have: a program that
// is started, or a file of {bin} or {here}. nil: everything is there. path is
// only named in the error, bin is what {bin} stands for.
func (f File) Absent(path, bin string) *Error {
	for _, key := range sorted(f.texts()) {
		for i, text := range f.texts()[key] {
			for _, found := range beside.FindAllString(text, -1) {
				if problem := absent(key, f.place(found, bin), false); problem != nil {
					problem.Path = path
					if strings.HasPrefix(found, "{here}") {
						problem.Fix = "put it there, or correct the path: {here} is the folder of the launcher file"
					}
					return problem
				}
			}
			if i == 0 && strings.HasSuffix(key, ".command") && text != "" {
				if problem := absent(key, f.program(text, bin), true); problem != nil {
					problem.Path = path
					return problem
				}
			}
		}
	}
	return nil
}

// texts are the file's texts by their keys.
func (f File) texts() map[string][]string {
	all := map[string][]string{"reference.command": f.Reference.Command, "launch.document": {f.Launch.Document},
		"pairing.template": {f.Pairing.Template}, "finalizer.executable": {f.Finalizer.Executable},
		"producer.executable": {f.Producer.Executable}, "host.command": f.Host.Command}
	environments := map[string]map[string]string{"reference": f.Reference.Environment, "launch": f.Launch.Environment}
	for name, program := range f.Tools.programs() {
		all["tools."+name] = []string{program}
	}
	for name, facade := range f.Facade {
		all["facade."+name+".command"] = facade.Command
		environments["facade."+name] = facade.Environment
	}
	for name, profile := range f.Profile {
		all["profile."+name+".arguments"] = profile.Arguments
		environments["profile."+name] = profile.Environment
	}
	for key, environment := range environments {
		for name, text := range environment {
			all[key+".environment."+name] = []string{text}
		}
	}
	return all
}

func (f File) place(text, bin string) string {
	return strings.NewReplacer("{bin}", bin, "{here}", f.Folder).Replace(text)
}

// program is where a command is found, along the fixed path if it names no folder.
func (f File) program(text, bin string) string {
	text = f.place(text, bin)
	if strings.Contains(text, "/") {
		return text
	}
	folders := filepath.SplitList(searchPath)
	i := slices.IndexFunc(folders, func(folder string) bool { return absent("", filepath.Join(folder, text), true) == nil })
	if i < 0 {
		return text
	}
	return filepath.Join(folders[i], text)
}

func absent(key, path string, executable bool) *Error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return problem(key, fmt.Sprintf("%s is not there", path), "build it (scripts/build makes this project's own), or name its folder with --bin")
	case executable && (st.IsDir() || st.Mode()&0o111 == 0):
		return problem(key, fmt.Sprintf("%s is no program", path), "name an executable file")
	}
	return nil
}
