#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a measured step: one for each track of a plan that a run can show, or one for each stream of a rank.

#include "core/runs/overlay/run_overlay.h"

namespace trainyard {

/// Which recording shows which rank of the job.
struct RankBook {
    /// [rank of the job]: of Recording::ranks; kNoIndex: nobody recorded it
    std::vector<std::uint32_t> recordings;
    /// ranks without a number, and where they were put
    std::vector<std::string> notes;
};
[[nodiscard]] RankBook rankBook(const Recording &recording);

struct RowsAsked {
    const Run *run = nullptr;
    /// null, or without spans: rows stay empty
    const RunStep *step = nullptr;
    /// of the step
    const std::vector<RankStep> *shares = nullptr;
    /// shown wherever its row has it
    std::optional<int> rank;
};
/// Of every track of the plan that a run can show, in the order of its tracks.
[[nodiscard]] std::vector<MeasuredRow> rowsUnder(
    const Evaluation &evaluation, const RankMap &map, const RankBook &book, const RowsAsked &asked);
/// Of each rank and stream that works in the step; of one rank where one is asked for.
[[nodiscard]] std::vector<MeasuredRow> rowsAlone(const RowsAsked &asked);

} // namespace trainyard
