// Package launcherfile reads the file that describes a launcher under test:
// how it is started, how it is given its limits and grants, what a strategy
// library for it looks like, and what its owner declares it cannot do.
//
// The file is TOML and strict: unknown keys, duplicate keys and unknown
// placeholders are refused with one line that names the file, the key and the
// fix. A placeholder is {name} in a string of a command, environment, document
// or template; a { before a lower-case letter always opens one. What the file gives no way to set, a scenario cannot ask of the
// launcher: Missing says so, and those rows are not run.
package launcherfile
