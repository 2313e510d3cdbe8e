#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of core/facts/plan/keys/ as a list, for those that ask for one key by its path or its member: axes of the
// search, alternatives, the strategy panel, the forms of the map, the tables of docs/plan-file.md. And two questions
// that the rows answer about plans. Any thread.

#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/plan.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace trainyard {

enum class KeyKind : std::uint8_t { Number, Whole, Flag, Choice, Text, Section, List, Other };

/// A value of a key as a number: of a flag 0 or 1, of an enum its place; nullopt: none, or auto.
using KeyValue = std::optional<double>;

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
    /// of an enum
    EnumNames names;
    /// bytes from the start of a plan to the member; -1: in a list, or of a shape of its own
    std::ptrdiff_t offset = -1;
    /// of the member; nullptr where it is no flag, enum or number
    KeyValue (*read)(const void *) = nullptr;
    void (*write)(void *, KeyValue) = nullptr;

    [[nodiscard]] bool applies(const Plan &plan) const;
    /// Of a flag, enum or number outside of lists.
    [[nodiscard]] KeyValue value(const Plan &plan) const
    {
        return read(reinterpret_cast<const char *>(&plan) + offset);
    }
    void set(Plan &plan, KeyValue value) const { write(reinterpret_cast<char *>(&plan) + offset, value); }
    /// As in a plan file: "true", "full", "8"; none as the key's choice says.
    [[nodiscard]] std::string fileText(KeyValue value) const;
    /// As on screen: "on", "8 bits".
    [[nodiscard]] std::string shownText(KeyValue value) const;
    /// In the order in which they are listed, none first: all of a flag or enum, of a number `worth` and the plan's
    /// In the order in which they are listed, none first: all of a flag or enum, `worth` of a number.
    [[nodiscard]] std::vector<KeyValue> values(std::span<const double> worth) const;
    /// The plan's own among them.
    [[nodiscard]] std::vector<KeyValue> values(const Plan &plan, std::span<const double> worth) const;
    /// That a search tries.
    [[nodiscard]] std::vector<KeyValue> tried() const
    {
        return values(key.choice.tried.empty() ? key.choice.values : key.choice.tried);
    }
    [[nodiscard]] std::string axisId() const { return key.choice.id ? key.choice.id : key.name; }
    [[nodiscard]] std::string group() const { return key.choice.group ? key.choice.group : axisId(); }
};

/// Every key of a plan file, in the order in which a plan is written; those of a list once, as "[]".
[[nodiscard]] const std::vector<KeyRow> &planKeys();
/// The path must be one of the list.
[[nodiscard]] const KeyRow &planKey(std::string_view path);

/// Where the sections lie in a plan.
inline constexpr std::tuple kSections { &Plan::workload, &Plan::parallelism, &Plan::stack, &Plan::placement,
    &Plan::memory, &Plan::wan, &Plan::moe, &Plan::heterogeneity, &Plan::bubbleFill, &Plan::jobOptions };

/// memberOf(plan, &WanStrategy::sharing) is plan.wan.sharing.
template <class AnyPlan, class Owner, class T> [[nodiscard]] auto &memberOf(AnyPlan &plan, T Owner::*member)
{
    if constexpr (std::is_same_v<Owner, Plan>)
        return plan.*member;
    else
        return plan.*std::get<Owner Plan::*>(kSections).*member;
}
/// A plan of defaults.
[[nodiscard]] const Plan &standardPlan();
/// That begins there in a plan and has none inside.
[[nodiscard]] const KeyRow &keyAt(std::ptrdiff_t offset);
/// rowOf(&WanStrategy::sharing): a member that does not exist is no text that matches nothing but an error of the
/// compiler.
template <class Owner, class T> [[nodiscard]] const KeyRow &rowOf(T Owner::*member)
{
    const Plan &plan = standardPlan();
    return keyAt(reinterpret_cast<const char *>(&memberOf(plan, member)) - reinterpret_cast<const char *>(&plan));
}

/// "Local drives of one node; default: the catalogue's. Affects convergence", as the schema describes the key.
[[nodiscard]] std::string sentenceOf(const Key &key);

/// "parallelism.tensor" and so on, of members.
template <class... Members> [[nodiscard]] std::vector<std::string> pathsOf(Members... members)
{
    return { rowOf(members).path... };
}

/// Whether a model learns otherwise under `to` than under `from`: not where an approximation is taken back.
[[nodiscard]] bool changesTraining(const Plan &from, const Plan &to);

} // namespace trainyard
