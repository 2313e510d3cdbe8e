#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of what nccl-tests print and of the JSON that they write with -J (telemetry specification 4.1). Columns are
// taken from the header line, since they differ by version and options; a table without one by the number of its
// fields.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeNcclTests(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readNcclTests(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeNcclTestsJson(std::string_view fileName, std::string_view head);
/// Arguments and environment of the run, which may hold secrets, are not looked at.
[[nodiscard]] Expected<Recording> readNcclTestsJson(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
