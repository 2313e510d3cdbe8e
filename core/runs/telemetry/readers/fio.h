#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of fio's JSON and JSON+ (telemetry specification 4.6): the bandwidth of each group of jobs and direction, with
// notes on what makes it less than a drive's: a page cache before it, a run of an instant.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeFio(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readFio(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
