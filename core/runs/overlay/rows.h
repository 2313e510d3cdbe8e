#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a measured step: one for each track of a plan that a run can show, or one for each stream of a rank.

#include "core/runs/overlay/run_overlay.h"

namespace trainyard {

/// Which recording shows which rank of the job.
struct RankBook {
    std::vector<std::uint32_t> recordings; // [rank of the job]: of Recording::ranks; kNoIndex: nobody recorded it
    std::vector<std::string> notes; // ranks without a number, and where they were put
};
[[nodiscard]] RankBook rankBook(const Recording &recording);

struct RowsAsked {
    const Run *run = nullptr;
    const RunStep *step = nullptr; // null, or without spans: rows stay empty
    const std::vector<RankStep> *shares = nullptr; // of the step
    std::optional<int> rank; // shown wherever its row has it
};
/// Of every track of the plan that a run can show, in the order of its tracks.
[[nodiscard]] std::vector<MeasuredRow> rowsUnder(
    const Evaluation &evaluation, const RankMap &map, const RankBook &book, const RowsAsked &asked);
/// Of each rank and stream that works in the step; of one rank where one is asked for.
[[nodiscard]] std::vector<MeasuredRow> rowsAlone(const RowsAsked &asked);

} // namespace trainyard
