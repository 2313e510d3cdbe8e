#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster as a picture for reports: its datacenters in a row with GPUs and stages, links as arcs between them with
// round trip, bandwidth and use. Pure.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// More datacenters have no room beside each other; the tables tell of them.
inline constexpr std::size_t kMostOnMap = 8;

/// <svg>; empty where there is no datacenter, or more than kMostOnMap.
[[nodiscard]] std::string mapSvg(const Evaluation &evaluation);

} // namespace trainyard
