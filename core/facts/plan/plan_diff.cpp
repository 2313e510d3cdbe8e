// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/plan_diff.h"

#include "core/facts/plan/diff_internal.h"

#include <algorithm>
#include <cctype>

namespace trainyard {

namespace detail {

namespace {

/// A label for a key without one: its name with spaces.
std::string madeLabel(std::string name)
{
    std::ranges::replace(name, '_', ' ');
    if (!name.empty())
        name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return name;
}

} // namespace

std::string gpuLabel(const Pool &pool)
{
    if (pool.inlineGpu)
        return !pool.inlineGpu->name.empty() ? pool.inlineGpu->name
            : pool.inlineGpu->id.empty()     ? "custom GPU"
                                             : pool.inlineGpu->id;
    std::string label;
    for (std::size_t at = 0; at <= pool.gpu.size();) {
        const std::size_t end = std::min(pool.gpu.find('-', at), pool.gpu.size());
        std::string word = pool.gpu.substr(at, end - at);
        const bool isSize =
            word.size() > 2 && word.ends_with("gb") && std::isdigit(static_cast<unsigned char>(word[0]));
        if (isSize)
            word.insert(word.size() - 2, " ");
        std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        if (word == "PCIE")
            word = "PCIe";
        label += (label.empty() ? "" : " ") + word;
        at = end + 1;
    }
    return label.empty() ? "GPU" : label;
}

std::string cutText(const std::string &text)
{
    constexpr std::size_t kLongest = 60;
    if (text.size() <= kLongest)
        return text;
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) // not inside a UTF-8 character
        --end;
    return text.substr(0, end) + "…";
}

std::string changeSentence(
    const Key &key, const std::string &subject, const std::string &before, const std::string &after)
{
    std::string label = *key.label ? key.label : madeLabel(key.name);
    if (key.onAs)
        return label + (after == key.onAs ? " on" : " off");
    if (!subject.empty())
        label += " " + subject;
    if (before == after || key.isProse)
        return label + " changed";
    if ((after == "on" || after == "off") && (before == "on" || before == "off" || before == "default"))
        return label + " " + after;
    const bool isNumber = !after.empty() && (std::isdigit(static_cast<unsigned char>(after[0])) || after[0] == '-');
    return label + " " + before + " → " + after + (isNumber ? key.unit : "");
}

} // namespace detail

std::vector<std::string> describeDifferences(const Plan &before, const Plan &after)
{
    detail::Sentences sentences;
    detail::describeObject("", before, after, sentences);
    if (before.baseDir != after.baseDir)
        sentences.push_back(detail::changeSentence(
            Key("folder", ""), "", detail::shownText(before.baseDir), detail::shownText(after.baseDir)));
    return sentences;
}

} // namespace trainyard
