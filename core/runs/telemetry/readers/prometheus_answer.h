#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of what Prometheus' HTTP API answers, as saved with curl (telemetry specification 2.2): instant vectors,
// matrices and scalars. Its errors, lists of names and pages of proxies are refused with what they say.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikePrometheusAnswer(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readPrometheusAnswer(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
