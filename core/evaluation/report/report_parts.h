#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a report says about one plan, piece by piece, before anyone lays it out: the HTML page stacks the pieces as
// cards, the PDF as sections on pages. The same input gives the same pieces. Any thread.

#include "core/evaluation/report/explanation.h"

#include <string>
#include <vector>

namespace trainyard {

struct ReportTile {
    /// plain text
    std::string label, value, note;
};

struct ReportCard {
    /// plain text
    std::string title;
    /// tables, lists and inline SVG whose classes are those of report_style.h
    std::string html;
};

/// "Llama 3 70B \u00b7 384 of 384 GPUs \u00b7 3 datacenters \u00b7 \u2026"
[[nodiscard]] std::string reportSubtitle(const Evaluation &evaluation);

struct ReportSetting {
    /// plain text: "Parallelism", "TP 8 · PP 12 · DP 4"
    std::string name, value;
};

/// Degrees as they came about, ZeRO stage, schedule, micro-batch, recomputation, placement and software; of one
/// model's training, empty of jobs.
[[nodiscard]] std::vector<ReportSetting> reportSettings(const Evaluation &evaluation);
/// "Oregon – Ohio": the names of the datacenters at its ends.
[[nodiscard]] std::string linkName(const Cluster &cluster, const WanLink &link);
/// The numbers at the top, eight of them.
[[nodiscard]] std::vector<ReportTile> reportTiles(const Evaluation &evaluation);
/// What the confidence label stands for; empty where there is nothing to add to it.
[[nodiscard]] std::string confidenceSentence(const Confidence &confidence);
/// Problems, map, breakdown, better parts, timeline, memory, links, placement, as far as the plan has them. `axis`:
/// length of the timeline's axis, so that several plans share one. `parts`: what better ones would buy
/// (useful_parts.h).
[[nodiscard]] std::vector<ReportCard> reportCards(
    const Evaluation &evaluation, Nanoseconds axis, const std::vector<PartEffect> &parts = {});

} // namespace trainyard
