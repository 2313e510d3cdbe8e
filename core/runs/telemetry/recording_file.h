#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A recording as a file, *.trainyard-recording: gzip of one JSON object, "format": "trainyard.recording", "version": 1;
// spans and samples as columns, times as differences to the one before (docs/recording-file.md, `schema recording`). It
// keeps all of a Recording, alignment too, so that write and read give an equal value. A file of a later version is
// refused, keys that this version does not know are left out and named; what is not gzip is read as plain JSON. Reading
// is a reader's like any other (read_sources.h).

#include "core/runs/telemetry/read_sources.h"

namespace trainyard {

/// gzip bytes, the same for equal recordings. Errors: Cancelled; OutOfRange with the JSON pointer of what no recording
/// has: columns of unequal lengths, indices of nothing, moments beyond 2116.
[[nodiscard]] Expected<std::string> formatRecording(const Recording &recording, const SourceOptions &options = {});
/// Never half written. Errors: those of writeOutputFile(), and those of formatRecording().
[[nodiscard]] Expected<void> writeRecording(
    const Recording &recording, const std::string &path, const SourceOptions &options = {});
/// The same where the disk, or what one may write to it, may be full: what does not fit is left out, the earliest spans
/// and collectives first, then the earliest samples; steps, arguments and the rest stay. What was kept is at least 0.7
/// of what would have fitted, and its first source says what is missing. That sentence; empty: all is there. Errors: as
/// writeRecording(), where not even the rest fits.
[[nodiscard]] Expected<std::string> writeWhatFits(
    const Recording &recording, const std::string &path, const SourceOptions &options = {});
/// JSON Schema of the unpacked object.
[[nodiscard]] std::string recordingSchema();

} // namespace trainyard
