#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What trainers other than Megatron call the same things: a table each of the keys of its configuration, with
// Megatron's name for what a plan is made of, nothing for what changes no work, memory or shape, and a reason for what
// no plan can express. A key of none of these is not understood, and told. Names of a trainer's keys stand behind its
// prefix in Recording::arguments ("nanotron.parallelism.tp"). Constant data; any thread.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::imports {

/// Of several for a key the first whose `from` is the value, or is empty, counts.
struct DialectRule {
    /// of the configuration; "optimizer.*": all below. Empty: Megatron's name has that value unless it is told.
    std::string_view key;
    /// Megatron's, or one of takeDialect()'s; empty: without effect. "!…": why no plan can be made of it.
    std::string_view name = {};
    std::string_view from = {};
    /// empty: the value as it is
    std::string_view to = {};
};

/// Keys with their values.
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Dialect {
    std::string_view prefix;
    /// "nanotron", for sentences
    const char *trainer;
    std::span<const DialectRule> rules;
    /// of a library that it is built on: where no rule of its own has the key
    std::span<const DialectRule> shared = {};
};
/// The first that has the key and the value; nullptr where none has both.
[[nodiscard]] const DialectRule *ruleOf(
    std::span<const DialectRule> rules, std::string_view key, std::string_view value);
/// Of the argument's prefix; nullptr where it has none.
[[nodiscard]] const Dialect *dialectOf(std::string_view argument);

/// All that a source tells in a dialect.
struct Translation {
    const Dialect *dialect = nullptr;
    struct Argument {
        std::string value;
        /// as its source has it
        std::string key;
        /// it is the trainer's default
        bool isDefault = false;
    };
    /// by Megatron's names
    std::map<std::string, Argument> arguments;
    /// keys that no rule has, with their values; switches that are off are not among them
    Settings notUnderstood;
    /// key and why
    Settings refused;
    /// file that it is of
    std::string source = {};
};
[[nodiscard]] Translation translated(const std::map<std::string, std::string> &arguments);

/// Whether the value of a key that is not known leaves it off: False, None, 0, nothing.
[[nodiscard]] bool isOff(std::string_view value);
/// Whether a name speaks of layers of several kinds or of experts: where it is not understood the shape is in doubt.
[[nodiscard]] bool isOfShape(std::string_view name);
/// Megatron's arguments that change no work, memory or shape of an iteration (where files lie, what is logged, rates of
/// learning), or that a plan is made of.
[[nodiscard]] bool isKnownToMegatron(std::string_view name);
/// The same of a name with sections, "model.optim.lr", as NeMo's YAML has them.
[[nodiscard]] bool isKnownToNemo(std::string_view path);
/// Whether Megatron's argument of that name takes one of several words, and this is none that a plan or its software
/// has.
[[nodiscard]] bool isUnknownWord(std::string_view name, std::string_view value);

} // namespace trainyard::imports
