#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of core/facts/plan/keys/ as a list, for those that ask for one key by its path: the strategy panel, the
// forms of the map, the tables of docs/plan-file.md. And two questions that the rows answer about plans. Any thread.

#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/plan.h"

#include <string_view>

namespace trainyard {

enum class KeyKind : std::uint8_t { Number, Whole, Flag, Choice, Text, Section, List, Other };

struct KeyRow {
    /// "cluster.wan_links[].rtt_ms"
    std::string path;
    Key key;
    KeyKind kind = KeyKind::Other;
    /// its default, as a plan file has it; of one that may be missing what holds then
    std::string standard;
    std::vector<std::string> choices;
    /// its section's and its own
    std::vector<bool (*)(const Plan &)> conditions;
    /// "auto" is a value
    bool isAutomatic = false;
    bool mayBeMissing = false;

    [[nodiscard]] bool applies(const Plan &plan) const;
};

/// Every key of a plan file, in the order in which a plan is written; those of a list once, as "[]".
[[nodiscard]] const std::vector<KeyRow> &planKeys();
/// The path must be one of the list.
[[nodiscard]] const KeyRow &planKey(std::string_view path);

/// "Local drives of one node; default: the catalogue's. Affects convergence", as the schema describes the key.
[[nodiscard]] std::string sentenceOf(const Key &key);

/// The number of a key outside of lists; nullopt where it is missing.
[[nodiscard]] std::optional<double> numberAt(const Plan &plan, std::string_view path);
void setNumberAt(Plan &plan, std::string_view path, std::optional<double> number);

/// Whether a model learns otherwise under `to` than under `from`: not where an approximation is taken back.
[[nodiscard]] bool changesTraining(const Plan &from, const Plan &to);

} // namespace trainyard
