#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The arguments that Megatron prints between two lines of dashes when it starts ("  tensor_model_parallel_size ......
// 8") and DeepSpeed's configuration in the same form. Values are Python's, as they stand.

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard::readers {

using Arguments = std::map<std::string, std::string>;

/// "  name ........ value"; false where the line is none. Values may be empty, names have no blanks.
bool takeArgument(std::string_view line, std::string_view prefix, Arguments &arguments);

class ArgumentDump {
public:
    /// Whether the line belongs to a dump.
    bool take(std::string_view line);
    [[nodiscard]] const Arguments &arguments() const { return m_arguments; }
    /// Those that were told, or told otherwise, since the last time.
    [[nodiscard]] Arguments takeNews() { return std::exchange(m_news, {}); }
    [[nodiscard]] int dumps() const { return m_dumps; }
    [[nodiscard]] int changed() const { return m_changed; } // values that a later dump tells otherwise

private:
    Arguments m_arguments, m_news;
    int m_dumps = 0, m_lines = 0, m_changed = 0;
    bool m_isInside = false;
};

} // namespace trainyard::readers
