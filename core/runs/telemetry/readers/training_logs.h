#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of training runs, whichever framework printed them: every line is offered to every framework's parser, the
// surest names the file.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

/// Reads a text through to its end. Errors: Cancelled; BadSyntax where no line of it is one of a framework's.
[[nodiscard]] Expected<Recording> readTrainingLog(const SourceText &source, const SourceOptions &options);

/// Of a file that begins so and that readTrainingLog() refuses: whether it is a text of lines, of which a line pattern
/// of the user may say what stands where; no JSON, XML, script or program.
[[nodiscard]] bool mayTakeLinePattern(const std::string &file, std::string_view head);

} // namespace trainyard::readers
