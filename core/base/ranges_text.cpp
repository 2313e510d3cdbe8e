// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ranges_text.h"

#include "core/base/number_text.h"

namespace trainyard {

std::string rangesText(const std::vector<std::int64_t> &ascending, std::size_t most)
{
    std::string text;
    std::size_t ranges = 0;
    for (std::size_t i = 0; i < ascending.size(); ++ranges) {
        if (ranges == most)
            return text + " and " + wholeText(static_cast<double>(ascending.size() - i)) + " more";
        std::size_t last = i;
        while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1)
            ++last;
        if (last == i + 1)
            last = i; // two are no range
        text += (text.empty() ? "" : ", ") + wholeText(static_cast<double>(ascending[i]));
        if (last > i)
            text += " to " + wholeText(static_cast<double>(ascending[last]));
        i = last + 1;
    }
    return text;
}

} // namespace trainyard
