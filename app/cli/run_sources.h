#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Files and folders of a run, as commands read them: with progress on a terminal, until the first Ctrl-C. Main thread
// only.

#include "core/runs/telemetry/read_sources.h"

#include <string>
#include <vector>

namespace trainyard::cli {

class Subcommand;

/// "--line-pattern", of logs that no reader knows.
void addLinePatternOption(const Subcommand &command, std::string &pattern);
/// `linePattern`: empty, or of the user (core/runs/telemetry/line_pattern.h). `keepsHost`: operators and calls of the
/// host, too. Errors: Cancelled; BadSyntax of the pattern.
[[nodiscard]] Expected<Recording> readRun(const std::vector<std::string> &sources, const std::stop_token &stop,
    const std::string &linePattern = {}, bool keepsHost = false);
/// The same of commands that are about ranks: what was refused or ends early is told. Errors: Cancelled; those of files
/// that were named; that there is no rank.
[[nodiscard]] ExpectedAll<Recording> readRanks(
    const std::vector<std::string> &sources, const std::stop_token &stop, bool keepsHost = false);
/// Tells on standard error what was refused or ends early. A file that was named itself, and is none of a run, is a
/// fault, which is answered; one that lay in a folder is not.
[[nodiscard]] Errors tellOf(const Recording &recording, const std::vector<std::string> &named);
/// Sentences that belong beside any figure of it: files that end early, ranks that several files tell.
[[nodiscard]] std::vector<std::string> notesOfSources(const Recording &recording);
/// Whether anything was read that a recording is made of.
[[nodiscard]] bool hasAnything(const Recording &recording);
/// Tells that Ctrl-C came, and answers with the exit code for it. `before`: "all files were read".
int stoppedBefore(const char *before);

} // namespace trainyard::cli
