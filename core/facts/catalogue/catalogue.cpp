// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace trainyard {

namespace {

constexpr std::size_t kMostNameBytes = 200; // what is longer is no name, and would take its square of steps to compare

template <class Entry> const Entry *find(const std::vector<Entry> &entries, std::string_view id)
{
    const auto found = std::ranges::find(entries, id, &Entry::id);
    return found == entries.end() ? nullptr : &*found;
}

/// Edits between two names, where case and the kind of separator do not count.
std::size_t distance(std::string_view a, std::string_view b)
{
    const auto fold = [](char c) {
        return c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    };
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t { 0 });
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (fold(a[i]) == fold(b[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({ replaced, row[j] + 1, diagonal + 1 });
        }
    }
    return row.back();
}

} // namespace

const GpuSpec *Catalogue::gpu(std::string_view id) const
{
    return find(gpus, id);
}
const ModelSpec *Catalogue::model(std::string_view id) const
{
    return find(models, id);
}
const StackSpec *Catalogue::stack(std::string_view id) const
{
    return find(stacks, id);
}
const Region *Catalogue::region(std::string_view id) const
{
    return find(regions, id);
}
const Cloud *Catalogue::cloud(std::string_view id) const
{
    return find(clouds, id);
}

std::string nearestName(std::string_view name, const std::vector<std::string> &names)
{
    std::string best;
    if (name.size() > kMostNameBytes)
        return best;
    // Half of the name may be wrong; beyond that a guess only confuses. A name that begins alike counts as near.
    std::size_t bestDistance = std::max<std::size_t>(2, name.size() / 2) + 1;
    for (const std::string &candidate : names) {
        if (candidate.size() > kMostNameBytes)
            continue;
        std::size_t edits = distance(name, candidate);
        if (!name.empty() && candidate.starts_with(name))
            edits = std::min<std::size_t>(edits, 2);
        if (edits < bestDistance) {
            bestDistance = edits;
            best = candidate;
        }
    }
    return best;
}

} // namespace trainyard
