#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What readers of machines share: switches with those below them, which names are switches and which are nodes, and
// nodes put together where they are alike. One thread, one file.

#include "core/runs/telemetry/readers/recording_builder.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers {

/// Adds a switch (or block) to the recording; its number is in `source` already.
void addSwitch(RecordingBuilder &scribe, std::string name, std::vector<std::string> below, bool isBlock = false,
    double linkBytesPerSecond = 0);
/// Nodes of all switches, once each and in their order: whatever is below one and is none itself.
void addNodesOfSwitches(RecordingBuilder &scribe);
/// Adds a node to those that are like it (but for their names).
void addNode(RecordingBuilder &scribe, std::string name, RecordedNodes like);
/// A number of a text from 0 to `most`; 0 where it is none, not finite or beyond.
[[nodiscard]] double amountIn(std::string_view text, double most);
/// "1 node", "3 nodes".
[[nodiscard]] std::string counted(std::size_t count, std::string_view one, std::string_view many);
/// Without a fraction where it has none: "12.5", "400".
[[nodiscard]] std::string plainNumber(double value);

} // namespace trainyard::readers
