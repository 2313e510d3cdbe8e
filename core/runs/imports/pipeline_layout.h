#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron's --pipeline-model-parallel-layout: "Et*3|(tt|)*29,m|L" names the layers of each virtual stage, E the
// embedding, t a layer, m one that predicts further tokens, L the loss; *n repeats a letter or a bracket.

#include <optional>
#include <string_view>
#include <vector>

namespace trainyard::imports {

/// Transformer layers of each virtual stage; empty where it is no such text, or tells more than 100,000 of either.
[[nodiscard]] std::optional<std::vector<int>> layersOfLayout(std::string_view text);

} // namespace trainyard::imports
