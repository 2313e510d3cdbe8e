#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether what a plan was calibrated to still holds: steps, and what they consist of, against the plan with its
// accepted factors. Told where steps lie outside the calibration's own error for long, with the part that is furthest
// off, as long as no rank and no link is known to cause it.

#include "core/live/alarms/alarm_list.h"
#include "core/live/alarms/level_watch.h"
#include "core/live/alarms/sentences.h"

#include <array>

namespace trainyard::watch {

class DriftWatch {
public:
    explicit DriftWatch(const WatchOptions &options)
        : m_options(options)
    {
    }
    void add(const StepFacts &facts, const WatchedPlan &watched, const Sentences &say, AlarmList &book);
    void forgetPlan();

private:
    struct Taught { // by the plan's accepted factors
        bool isAny = false;
        /// of steps that were held out, as a share
        double error = 0;
        /// of computing, communication, host: "products of H100"
        std::array<std::vector<std::string>, 3> parts;
    };
    [[nodiscard]] static Taught taughtBy(const Plan &plan, double leastError);

    const WatchOptions &m_options;
    PlanPtr m_plan;
    Taught m_taught;
    LevelWatch m_steps;
    /// seconds beyond the plan's
    std::array<LevelWatch, 3> m_parts;
    bool m_isTold = false;
};

} // namespace trainyard::watch
