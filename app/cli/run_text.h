#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences and differences of a run, as comparisons and verdicts print them for people. Pure functions.

#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace trainyard::cli {

/// "+12.4 ms" of a difference.
[[nodiscard]] inline std::string signedSeconds(double seconds)
{
    if (std::abs(seconds) < 5e-10)
        return "0 s";
    return (seconds > 0 ? "+" : "−") + secondsText(std::abs(seconds));
}

/// The text with its line ends as spaces.
[[nodiscard]] inline std::string oneLine(std::string text)
{
    std::ranges::replace(text, '\n', ' ');
    return text;
}

/// A heading with a line for each sentence below it; nothing where there are none.
[[nodiscard]] inline std::string section(const char *heading, const std::vector<std::string> &sentences)
{
    std::string text = sentences.empty() ? "" : "\n" + std::string(heading) + "\n";
    for (const std::string &sentence : sentences)
        text += "  " + oneLine(sentence) + "\n";
    return text;
}

} // namespace trainyard::cli
