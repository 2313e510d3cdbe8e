// SPDX-License-Identifier: GPL-3.0-or-later
// What rows depend on beside the sweep itself: files that it names, and the program with its catalogue.
#include "core/base/text_file.h"
#include "core/base/version.h"
#include "core/facts/catalogue/embedded_files.h"
#include "core/facts/plan/named_files.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/copy_key.h"
#include "core/planner/sweep/fingerprint_internal.h"
#include "core/planner/sweep/sweep.h"

#include <algorithm>
#include <iterator>

namespace trainyard {

namespace {

/// FNV-1a (draft-eastlake-fnv), from a basis.
std::uint64_t hashed(std::string_view text, std::uint64_t hash)
{
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return hash;
}

std::string hexadecimal(std::uint64_t value)
{
    std::string text(16, '0');
    for (std::size_t i = 0; i < 16; ++i)
        text[15 - i] = "0123456789abcdef"[(value >> (4 * i)) & 15];
    return text;
}

} // namespace

std::vector<SweepInput> sweepInputs(const SweepSpec &spec)
{
    std::vector<std::string> files = namesOfFiles(*spec.plan);
    for (const SweepAxis &axis : spec.vary) {
        if (plainValue(*spec.plan, axis.key).has_value())
            continue; // a number names no file
        for (std::size_t i = 0; i < std::min(axis.values.size(), kMostChecked); ++i)
            if (const auto with = withKeySet(*spec.plan, axis.key, axis.values[i]))
                std::ranges::copy(namesOfFiles(*with), std::back_inserter(files));
    }
    std::vector<SweepInput> inputs;
    for (std::string &name : files) {
        if (std::ranges::find(inputs, name, &SweepInput::path) != inputs.end())
            continue;
        const auto text = readTextFile(fileOf(*spec.plan, name).string(), {}, { .mostBytes = kMostTableBytes });
        inputs.push_back({ std::move(name), text ? detail::fingerprintOf(*text) : "missing" });
    }
    return inputs;
}

const std::string &sweepProgram()
{
    static const std::string program = [] {
        std::string texts;
        for (const EmbeddedFile &file : embeddedCatalogueFiles())
            texts += std::string(file.name) + ":" + std::to_string(file.text.size()) + ":" + std::string(file.text);
        return productVersion() + std::string(", catalogue ") + detail::fingerprintOf(texts).substr(0, 8);
    }();
    return program;
}

std::string detail::fingerprintOf(std::string_view text)
{
    return hexadecimal(hashed(text, 0xcbf29ce484222325ull)) + hexadecimal(hashed(text, 0x6c62272e07bb0142ull));
}

} // namespace trainyard
