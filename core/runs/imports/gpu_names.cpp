// SPDX-License-Identifier: GPL-3.0-or-later
// What drivers, schedulers and clouds call a GPU, to the catalogue's id: chip, form, memory ("h100-sxm-80gb").
#include "core/runs/imports/gpu_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace trainyard::imports {

namespace {

std::vector<std::string> partsOf(std::string_view name)
{
    std::vector<std::string> parts(1);
    for (const char c : name.substr(0, 200)) {
        const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (isLetter || (c >= '0' && c <= '9'))
            parts.back() += static_cast<char>(isLetter ? c | 0x20 : c);
        else if (!parts.back().empty())
            parts.emplace_back();
    }
    if (parts.back().empty())
        parts.pop_back();
    return parts;
}

/// GB of "80gb", "80g", "80"; 0 where it is none.
int memoryOf(std::string_view part)
{
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    const std::string_view unit(end, static_cast<std::size_t>(part.data() + part.size() - end));
    return error == std::errc() && value >= 8 && value < 1000 && (unit == "gb" || unit == "g" || unit == "gib") ? value
                                                                                                                : 0;
}

bool isForm(std::string_view part)
{
    return part.starts_with("sxm") || part == "pcie" || part == "nvl";
}

/// AMD's names of chips, as rocminfo, RCCL and compilers write them: "gfx942", "gfx942:sramecc+:xnack-".
struct Chip {
    std::string_view name;
    /// of the catalogue, that is taken
    std::string_view id;
    std::string_view gpus;
};
constexpr auto kChips = std::to_array<Chip>({ { "gfx90a", "mi250x-128gb", "MI210, MI250 or MI250X" },
    { "gfx942", "mi300x-192gb", "MI300X, MI300A or MI325X" }, { "gfx950", "mi355x-288gb", "MI350X or MI355X" } });

NamedGpu gpuOfChip(std::string_view name, const Catalogue &catalogue)
{
    name = name.substr(0, name.find(':'));
    const auto chip = std::ranges::find(kChips, name, &Chip::name);
    return chip == kChips.end() ? NamedGpu {} : NamedGpu { catalogue.gpu(chip->id), false, chip->gpus };
}

/// Letters of an id that are its chip: "h100" of "h100-sxm-80gb".
std::string chipOf(const GpuSpec &gpu)
{
    std::string chip;
    for (const std::string &part : partsOf(gpu.id))
        if (memoryOf(part) == 0 && !isForm(part))
            chip += part;
    return chip;
}

struct Candidate {
    const GpuSpec *gpu = nullptr;
    std::size_t chip = 0; // letters of the name that are its chip
    std::string form;
    int memory = 0;
};

/// Whether parts of the name, one after the other, are the chip.
bool hasChip(const std::vector<std::string> &parts, const std::string &chip)
{
    for (std::size_t first = 0; first < parts.size(); ++first) {
        std::string joined;
        for (std::size_t i = first; i < parts.size() && joined.size() < chip.size(); ++i)
            if ((joined += parts[i]) == chip)
                return true;
    }
    return false;
}

Candidate candidateOf(const GpuSpec &gpu, const std::vector<std::string> &parts)
{
    Candidate one;
    std::string chip;
    for (const std::string &part : partsOf(gpu.id))
        if (const int memory = memoryOf(part); memory > 0)
            one.memory = memory;
        else if (isForm(part))
            one.form = part;
        else
            chip += part;
    if (hasChip(parts, chip)) {
        one.gpu = &gpu;
        one.chip = chip.size();
    }
    return one;
}

} // namespace

NamedGpu gpuNamed(std::string_view name, const Catalogue &catalogue)
{
    if (const GpuSpec *known = catalogue.gpu(name))
        return { known, true };
    if (const NamedGpu ofChip = gpuOfChip(name, catalogue); ofChip.gpu)
        return ofChip;
    const std::vector<std::string> parts = partsOf(name);
    int memory = 0;
    std::string form;
    for (const std::string &part : parts) {
        memory = memory > 0 ? memory : memoryOf(part);
        if (isForm(part))
            form = part.starts_with("sxm") ? "sxm" : "pcie";
    }
    std::vector<Candidate> all;
    for (const GpuSpec &gpu : catalogue.gpus)
        if (Candidate one = candidateOf(gpu, parts); one.gpu)
            all.push_back(std::move(one));
    if (all.empty())
        return {};
    const std::size_t longest = std::ranges::max_element(all, {}, &Candidate::chip)->chip;
    std::erase_if(all, [&](const Candidate &one) { return one.chip < longest; });
    const auto distance = [&](const Candidate &one) {
        // a form that is not told is the one that trains; a memory that is not told the smallest
        const bool isOtherForm = !one.form.empty() && one.form != (form.empty() ? "sxm" : form);
        return std::pair(isOtherForm, memory > 0 ? std::abs(one.memory - memory) : one.memory);
    };
    const Candidate &best = *std::ranges::min_element(all, {}, distance);
    const bool hasForms = std::ranges::any_of(all, [&](const Candidate &one) { return one.form != best.form; });
    const bool hasMemories = std::ranges::any_of(
        all, [&](const Candidate &one) { return one.form == best.form && one.memory != best.memory; });
    const bool isHbm = std::ranges::any_of(parts, [](const std::string &part) { return part.starts_with("hbm3"); });
    // The driver names the memory of SXM boards; 96 GB of a GH200 is not 80.
    return { best.gpu,
        (!hasForms || !form.empty() || isHbm) && (!hasMemories || memory > 0)
            && (memory == 0 || std::abs(memory - best.memory) <= best.memory / 10) };
}

bool mayMean(std::string_view name, const GpuSpec &gpu, const Catalogue &catalogue)
{
    const NamedGpu found = gpuNamed(name, catalogue);
    if (!found.gpu || found.gpu->id == gpu.id)
        return found.gpu != nullptr;
    if (!found.ofChip.empty())
        return gpu.vendor == found.gpu->vendor;
    const auto memoryIn = [](std::string_view text) {
        int memory = 0;
        for (const std::string &part : partsOf(text))
            memory = memory > 0 ? memory : memoryOf(part);
        return memory;
    };
    const int told = memoryIn(name), own = memoryIn(gpu.id);
    return !found.isSure && chipOf(gpu) == chipOf(*found.gpu) && (told == 0 || std::abs(told - own) <= told / 10);
}

} // namespace trainyard::imports
