#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds of sources by the names that recording files, and other programs' answers, call them: names that stay when
// sentences change. Pure functions.

#include "core/runs/telemetry/recording.h"

#include <optional>
#include <string_view>

namespace trainyard::recording_file {

inline constexpr std::size_t kSourceKinds = std::size_t(SourceKind::Probe) + 1;
/// "kineto_trace"
[[nodiscard]] std::string_view idOf(SourceKind kind);
[[nodiscard]] std::optional<SourceKind> kindOf(std::string_view id);

} // namespace trainyard::recording_file
