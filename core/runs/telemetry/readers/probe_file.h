#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of the result of samples/probe/trainyard_probe.py (docs/probe.md): kernels that it timed alone, copies,
// collectives and storage as benchmark points, and the machine that it ran on.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeProbe(std::string_view fileName, std::string_view head);
/// Refuses later versions, and a probe that measured nothing.
[[nodiscard]] Expected<Recording> readProbe(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
