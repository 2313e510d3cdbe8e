#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One quantity over the steps, watched for sustained changes of its level. A rise is found where the latest values lie
// above the level before by more than what matters and by more than their standard error, and are so much more often
// above the middle of both than those before that the same values in any other order would be so less often than the
// tail of a normal distribution at that many standard errors. No distribution is assumed: outliers count as often as
// they came. What lies several times as far off as anything before is believed after five values. It keeps 160 values
// at most.

#include "core/runs/telemetry/recording.h"

#include <optional>
#include <vector>

namespace trainyard::watch {

struct LevelPoint {
    std::int64_t step = -1;
    /// Unix ns; 0: not told
    Moment at = 0;
    double value = 0;
};

struct LevelChange {
    /// rose; is raised still, but elsewhere; is as it was
    enum class Kind : std::uint8_t { Began, Moved, Over };
    Kind kind = Kind::Began;
    /// that shows it
    LevelPoint first;
    /// levels; before: what it was before it rose
    double before = 0, after = 0;
};

struct LevelRules {
    double errors = 5;
    int leastSteps = 3;
};

class LevelWatch {
public:
    explicit LevelWatch(const LevelRules &rules = {})
        : m_rules(rules)
    {
    }
    /// `least`: by which the level has to change to be of any interest, in the unit of the value; above 0.
    std::optional<LevelChange> add(const LevelPoint &point, double least);
    [[nodiscard]] bool isRaised() const { return m_isRaised; }
    [[nodiscard]] double base() const { return m_base; } // before it rose; while it is raised
    /// of the latest 24 values since the last change; 0 of none
    [[nodiscard]] double level() const;
    [[nodiscard]] int points() const { return static_cast<int>(m_points.size()); } // since the last change
    /// Whether the latest 24 values since the last change lie above (below) a limit, surely: from five on (or
    /// `leastPoints`) where they are further from it than from each other, from 16 on by the error of their median.
    [[nodiscard]] bool isAbove(double limit, int leastPoints = 5) const { return isBeyond(limit, 1, leastPoints); }
    [[nodiscard]] bool isBelow(double limit, int leastPoints = 5) const { return isBeyond(limit, -1, leastPoints); }
    /// Since when they mostly do; needs a point.
    [[nodiscard]] const LevelPoint &firstAbove(double limit) const { return firstBeyond(limit, 1); }
    [[nodiscard]] const LevelPoint &firstBelow(double limit) const { return firstBeyond(limit, -1); }
    /// Counts as raised from now on, from `base` on: what was above it from the start.
    void raise(double base);

private:
    struct Found {
        /// of m_points
        std::size_t first = 0;
        double before = 0, after = 0;
    };
    [[nodiscard]] std::optional<Found> find(double sign, double least, double errors) const;
    [[nodiscard]] bool isBeyond(double limit, double sign, int leastPoints) const;
    [[nodiscard]] const LevelPoint &firstBeyond(double limit, double sign) const;
    LevelChange keepFrom(const Found &found);

    LevelRules m_rules;
    /// since the last change
    std::vector<LevelPoint> m_points;
    bool m_isRaised = false;
    double m_base = 0;
    /// before it fell without having been raised
    std::optional<double> m_usual;
};

/// By chance alone, in any order of the values: that of `hitsBefore` + hits hits at least `hits` are among the last
/// `window` of before + window values (hypergeometric).
[[nodiscard]] double chanceOfHits(int before, int hitsBefore, int window, int hits);

} // namespace trainyard::watch
