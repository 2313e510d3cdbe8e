#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who told: sources with their sums and notes, the run's name, and the arguments that each of them tells. Not
// thread-safe.

#include "core/live/batch.h"

#include <map>
#include <utility>

namespace trainyard::live {

class SourceBook {
public:
    /// Number of the batch's source in snapshots; of those beyond the bound the last.
    std::uint32_t take(const Batch &batch);
    void note(std::uint32_t source, std::string sentence);
    void writeTo(Recording &recording) const;
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    struct Kept {
        RecordedSource source;
        std::map<std::string, std::string> arguments;
    };
    void takeArguments(Kept &kept, const std::map<std::string, std::string> &arguments);
    std::string m_name;
    std::vector<Kept> m_sources;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> m_index;
    std::size_t m_bytes = 0;
};

} // namespace trainyard::live
