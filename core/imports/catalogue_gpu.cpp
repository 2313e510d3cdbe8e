// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/imports/catalogue_gpu.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace trainyard {

namespace {

constexpr std::array<std::string_view, 7> kMakers { "nvidia", "geforce", "tesla", "amd", "instinct", "blackwell",
    "graphics" };

bool isWordByte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

/// In lower case, without makers.
std::vector<std::string> wordsOf(std::string_view name)
{
    std::vector<std::string> words(1);
    for (char byte : name.substr(0, 200)) {
        byte = byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte;
        if (isWordByte(byte))
            words.back() += byte;
        else if (!words.back().empty())
            words.emplace_back();
    }
    std::erase_if(words,
        [](const std::string &word) { return word.empty() || std::ranges::find(kMakers, word) != kMakers.end(); });
    return words;
}

/// 80 of "80gb", "80g", "80gib"; 0 of other words.
int gigabytesOf(const std::string &word)
{
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const std::string_view unit(end, word.data() + word.size());
    return error == std::errc() && (unit == "gb" || unit == "g" || unit == "gib") ? number : 0;
}

bool isForm(const std::string &word)
{
    return word.starts_with("sxm") || word == "pcie";
}

/// Of the words, whether some that follow each other are `model` when joined.
bool hasModel(const std::vector<std::string> &words, const std::string &model)
{
    for (std::size_t first = 0; first < words.size(); ++first) {
        std::string joined;
        for (std::size_t i = first; i < words.size() && joined.size() < model.size(); ++i)
            if ((joined += words[i]) == model)
                return true;
    }
    return false;
}

} // namespace

const GpuSpec *catalogueGpu(const Catalogue &catalogue, std::string_view name)
{
    const auto words = wordsOf(name);
    const auto memory = std::ranges::max_element(words, {}, gigabytesOf);
    const int gigabytes = memory != words.end() ? gigabytesOf(*memory) : 0;
    const bool isPcie = std::ranges::find(words, "pcie") != words.end();
    const GpuSpec *best = nullptr;
    int most = -1;
    for (const GpuSpec &gpu : catalogue.gpus) {
        std::string model;
        int score = 10;
        for (const std::string &word : wordsOf(gpu.id)) {
            if (const int own = gigabytesOf(word); own > 0)
                score += gigabytes == 0 ? 0 : std::abs(own - gigabytes) <= std::max(2, own / 16) ? 4 : -4;
            else if (isForm(word))
                score += (word == "pcie") == isPcie ? 2 : -2;
            else
                model += word;
        }
        if (gpu.id == name)
            return &gpu;
        if (score > most && hasModel(words, model)) {
            most = score;
            best = &gpu;
        }
    }
    return best;
}

} // namespace trainyard
