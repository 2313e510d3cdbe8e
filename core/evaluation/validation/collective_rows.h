#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Published times and rates of exchanges with experts beside what core/systems/experts says of them: rows of
// resources/validation/collectives.json, each one collective on GPUs and NICs of the catalogue. Values, read once.

#include "core/base/error.h"
#include "core/facts/plan/moe_strategy.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Logical: bytes as the kernel's makers count, over time. Wire: bytes that leave the GPU, over time.
enum class CollectiveUnit : std::uint8_t { Microseconds, LogicalGBps, WireGBps };

struct CollectiveRow {
    /// key of CollectiveRows::sources
    std::string source;
    /// "DeepEP V1, EP16"
    std::string what;
    /// id in the catalogue
    std::string gpu;
    /// of a GPU
    double nicGbps = 0;
    int ranks = 1, ranksPerNode = 1;
    MoeDispatch dispatch = MoeDispatch::Flat;
    bool isCombine = false;
    /// of one rank; of one token on the wire
    double tokens = 0, tokenBytes = 0;
    int choices = 1, experts = 1, groups = 0, topGroups = 0;
    CollectiveUnit unit = CollectiveUnit::Microseconds;
    /// in the unit
    double published = 0;
    /// has to be met within 10 %
    bool isGated = false;
    /// a figure of the catalogue rests on it, so that it proves nothing
    bool isSource = false;
    std::string note;
};

struct CollectiveSource {
    std::string id, title, url;
};

struct CollectiveRows {
    std::vector<CollectiveSource> sources;
    std::vector<CollectiveRow> rows;
};

[[nodiscard]] ExpectedAll<CollectiveRows> parseCollectives(std::string_view json, const std::string &fileName);
/// What is built in; a broken file is a broken build.
[[nodiscard]] const CollectiveRows &builtinCollectives();
/// In the row's unit, by exchangeOf() with the catalogue's GPU and links.
[[nodiscard]] double predicted(const CollectiveRow &row);
/// Published, ours and by how much it misses; Markdown.
[[nodiscard]] std::string collectiveTable(const CollectiveRows &rows);
/// The page with the table below its line `<!-- published collectives -->` as it should be.
[[nodiscard]] std::string withCollectiveTable(const std::string &page);

} // namespace trainyard
