#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of training runs, whichever framework printed them: every line is offered to every framework's parser, the
// surest names the file.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

/// Reads a text through to its end. Errors: Cancelled; BadSyntax where no line of it is one of a framework's.
[[nodiscard]] Expected<Recording> readTrainingLog(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
