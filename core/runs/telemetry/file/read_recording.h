#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A recording from the text of a recording file. One that ends in the middle is read as far as it goes, and keys that
// this version does not know are left out; either is told by a source of its own, of kind Recording, behind those that
// the file has. Of an intact file the answer is the recording that was written.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::recording_file {

/// Errors: Cancelled; BadSyntax for what is no JSON and for a later version, BadValue and OutOfRange for wrong values:
/// all with the file and the JSON pointer.
[[nodiscard]] Expected<Recording> readRecording(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::recording_file
