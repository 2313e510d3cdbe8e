#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A user's pattern of the lines of a log that no reader knows: a regular expression whose named groups say what stands
// where, "step (?<step>\d+) .* (?<time>[\d.]+) ms". A line takes time proportional to its length, whatever the pattern.
// Plain value, shared read-only by all threads.

#include "core/base/error.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// What a group tells, by its name.
enum class LineGroup : std::uint8_t { Step, Time, Tokens, TokensPerGpu, Loss, Memory };
inline constexpr std::array<const char *, 6> kLineGroups { "step", "time", "tokens", "tokens_per_gpu", "loss",
    "memory" };

class LinePattern {
public:
    /// Groups: step; time (of a step), tokens (per second, of all GPUs), tokens_per_gpu (per second), loss, memory (of
    /// a GPU). time and memory may have their unit behind them ("time_ms", "memory_gib"); else it is what stands behind
    /// the number, or seconds and GiB.
    /// Errors: BadSyntax with the place: no regular expression, a group of another name, or none but the step.
    [[nodiscard]] static Expected<LinePattern> parse(std::string_view text);

    [[nodiscard]] const std::string &text() const { return m_text; }

    struct Value {
        LineGroup group = LineGroup::Step;
        /// in seconds, tokens per second or bytes
        double value = 0;
    };
    /// Of the first place of the line where the pattern holds; empty where there is none or a group has no number.
    /// Of lines longer than 4 KiB their beginning.
    [[nodiscard]] std::vector<Value> valuesOf(std::string_view line) const;

    struct Step { // of the machine
        enum class Kind : std::uint8_t { OneOf, Split, Jump, Save, Begin, End, WordEdge, Match };
        Kind kind = Kind::Match;
        /// of OneOf: which of m_sets; of Split the first way; of Jump where to; of Save which place
        int first = 0;
        /// of Split: the other way
        int other = 0;
    };
    struct NamedGroup {
        LineGroup group = LineGroup::Step;
        /// of a unit in the name; 0: what stands behind the number says it
        double factor = 0;
    };

private:
    [[nodiscard]] std::optional<std::vector<int>> placesIn(std::string_view line) const;

    std::string m_text;
    std::vector<Step> m_steps;
    std::vector<std::bitset<256>> m_sets;
    /// in the order of the pattern
    std::vector<NamedGroup> m_groups;
};

} // namespace trainyard
