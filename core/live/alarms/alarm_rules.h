#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each alarm is raised by, and the user's say in it: whether it is on, its threshold, and for how long a state has
// to hold before it is told. The names are those of the rules file (core/live/desk/alarm_setup.h). Value types.

#include "core/base/error.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::watch {

enum class AlarmKind : std::uint8_t;

enum class RuleId : std::uint8_t {
    StepTime,
    Waiting,
    SlowLink,
    Straggler,
    Silent,
    MemoryFull,
    MemoryGrows,
    Drift,
    /// of GPUs, as their exporters tell
    Clock,
    Throttled,
    Temperature,
    MemoryTemperature,
    Xid,
    Ecc,
    NvLink,
    Health
};
inline constexpr std::size_t kRules = 16;

struct AlarmRule {
    bool isOn = true;
    /// in the unit of RuleTraits; of no meaning where that has none
    double threshold = 0;
    /// s, from the first that shows the state to the latest that does
    double holdSeconds = 0;
    bool operator==(const AlarmRule &) const = default;
};

struct RuleTraits {
    RuleId id;
    /// "memory-full", of files and options
    const char *key;
    /// "Memory full", for people
    const char *name;
    /// "is told where a GPU holds more than this share of its capacity"
    const char *meaning;
    /// "share", "°C", "errors"; null: it has no threshold
    const char *unit;
    double usual, least, most;
    [[nodiscard]] bool hasThreshold() const { return unit != nullptr; }
};
/// In the order of RuleId.
[[nodiscard]] const std::array<RuleTraits, kRules> &ruleTraits();
[[nodiscard]] const RuleTraits &traitsOf(RuleId rule);
/// Of a kind that has one rule alone; of Memory MemoryFull, of Hardware Health.
[[nodiscard]] RuleId ruleOf(AlarmKind kind);

class AlarmRules {
public:
    /// as the traits have them
    AlarmRules();
    [[nodiscard]] AlarmRule &operator[](RuleId rule) { return m_rules[static_cast<std::size_t>(rule)]; }
    [[nodiscard]] const AlarmRule &operator[](RuleId rule) const { return m_rules[static_cast<std::size_t>(rule)]; }
    [[nodiscard]] double threshold(RuleId rule) const { return (*this)[rule].threshold; }
    /// XIDs that nobody wants to hear of: 13 and 31 are often the program's own fault
    std::vector<int> ignoredXids;
    bool operator==(const AlarmRules &) const = default;

    /// "clock.threshold=0.8", "waiting.on=false", "silent.hold_s=60", "xid.ignore=13,31". Errors: UnknownKey with the
    /// nearest rule, BadValue with the range; `where` is the text before "=".
    [[nodiscard]] Expected<void> set(std::string_view assignment);
    /// Errors: BadValue at `where` with the range.
    [[nodiscard]] Expected<void> setThreshold(RuleId rule, double value, std::string_view where);
    [[nodiscard]] Expected<void> setHold(RuleId rule, double seconds, std::string_view where);

private:
    std::array<AlarmRule, kRules> m_rules;
};

/// The rule of this key. Errors: UnknownKey with the nearest.
[[nodiscard]] Expected<RuleId> ruleNamed(std::string_view key);
/// What would be right as a threshold: "0.1 to 1 (share)".
[[nodiscard]] std::string rangeText(const RuleTraits &traits);
/// s
inline constexpr double kLongestHold = 86'400;
inline constexpr double kLargestXid = 10'000;

} // namespace trainyard::watch
