#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of text expositions of metrics, Prometheus 0.0.4 and OpenMetrics 1.0, as exporters answer a scrape
// (telemetry specification 2.1, 2.3). Which of the two it is, its "# EOF" tells: they differ in the unit of times.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeMetricsText(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readMetricsText(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
