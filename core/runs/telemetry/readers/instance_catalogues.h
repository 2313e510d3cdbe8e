#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of what clouds rent (telemetry specification 7): SkyPilot's catalogue of prices (vms.csv, whose columns stand
// in any order), and the JSON of AWS's describe-instance-types.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeSkyCatalogue(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSkyCatalogue(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeInstanceTypes(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readInstanceTypes(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
