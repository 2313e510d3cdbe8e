#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The manual of a program, made from what its parser knows: a page for man, and what completes its command line in
// shells. It knows no parser; each program tells what its own one has. Pure functions, any thread.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::about {

/// An option, or an argument by place.
struct ManualOption {
    /// "-h", "--help"; none: an argument by place
    std::vector<std::string> names;
    /// what stands for its value, "OUT.csv", or the name of an argument; empty: it takes none
    std::string value;
    std::string help;
    /// all that it takes; none: anything
    std::vector<std::string> choices;
    /// the value without it; empty: none is told
    std::string standard;
    bool isRequired = false;
    /// takes several values, or is named several times
    bool isRepeated = false;
};

/// A program, or one of its commands.
struct ManualCommand {
    /// exitCodes: "0 done; 2 bad usage"; empty: those of the program
    std::string name, help, exitCodes;
    std::vector<ManualOption> options, arguments;
    std::vector<ManualCommand> commands;
};

enum class ManualFormat { Man, Bash, Zsh, Fish };
/// Words of --manual, in the order of the enumeration.
inline constexpr std::string_view kManualFormats[] = { "man", "bash", "zsh", "fish" };
inline constexpr const char *kManualHelp =
    "Print the page for man, or what completes the command line in a shell, and exit";

/// `format`: one of kManualFormats; empty text for another. A line end after each line but the last.
[[nodiscard]] std::string manualText(const ManualCommand &program, std::string_view format);

/// Of one format each, with a line end after the last line.
[[nodiscard]] std::string manPage(const ManualCommand &program);
[[nodiscard]] std::string bashCompletion(const ManualCommand &program);
[[nodiscard]] std::string zshCompletion(const ManualCommand &program);
[[nodiscard]] std::string fishCompletion(const ManualCommand &program);

/// Whether what stands for a value tells of files and folders: "PLAN|RECORDING", "OUT.csv", "FILE...".
[[nodiscard]] bool namesFiles(const std::string &value);
/// A program or a command with all below it; the path of the program is "", of a command "/telemetry/compare".
struct ManualPlace {
    std::string path;
    const ManualCommand *command;
};
[[nodiscard]] std::vector<ManualPlace> placesOf(const ManualCommand &program);
/// "trainyard-cli" as a part of a shell function's name: "trainyard_cli".
[[nodiscard]] std::string functionName(const std::string &program);
/// "'" and "\" as a shell takes them within single quotes. `isFish`: fish has escapes there, others none.
[[nodiscard]] std::string inSingleQuotes(const std::string &text, bool isFish = false);

} // namespace trainyard::about
