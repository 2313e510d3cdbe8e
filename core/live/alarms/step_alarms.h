#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All levels that are watched from step to step, each at its place: the step, each stage's waiting, each rank beside
// those like it, each link beside the plan. Ranks and links tell at once; longer steps and more waiting are told only
// where no rank and no link explains them within some steps.

#include "core/live/alarms/alarm_list.h"
#include "core/live/alarms/level_watch.h"
#include "core/live/alarms/sentences.h"

#include <array>
#include <map>

namespace trainyard::watch {

class StepAlarms {
public:
    explicit StepAlarms(const WatchOptions &options);
    void add(const StepFacts &facts, const WatchedPlan &watched, const Sentences &say, AlarmList &book);
    /// Tells what nothing explains; `isEnd`: no further step will come that could.
    void settle(const Sentences &say, AlarmList &book, bool isEnd);
    /// Another one from now on; steps from `firstStep` on are added again.
    void forgetPlan(AlarmList &book, std::int64_t firstStep);
    /// A step that was added under another plan: only what is held against the plan is looked at again.
    void addAgain(const StepFacts &facts, const WatchedPlan &watched, const Sentences &say, AlarmList &book);
    [[nodiscard]] double stepSeconds() const { return m_step.level(); } // 0: not known

private:
    struct RankLevels {
        LevelWatch compute, host;
    };
    struct WaitPoint {
        std::int64_t step = -1;
        double seconds = 0;
    };
    struct LinkLevels {
        /// measured over planned seconds; there and back
        std::array<LevelWatch, 2> slowness;
        std::array<LinkRate, 2> latest;
        [[nodiscard]] int slower() const { return slowness[1].level() > slowness[0].level() ? 1 : 0; }
        /// from, to, receiving stage
        std::map<std::tuple<int, int, int>, std::vector<WaitPoint>> waits;
    };
    struct Pending { // found, and not told
        AlarmKind kind = AlarmKind::StepTime;
        std::string place;
        LevelPoint first;
        double before = 0, after = 0;
        /// of waiting
        int stage = -1;
        bool isOfRange = false;
        bool isExplained = false;
        /// steps since it was found
        int age = 0;
    };
    /// held against the plan, not against the run's own steps
    [[nodiscard]] static bool isOfPlan(const Pending &one);
    void addStep(const StepFacts &facts);
    void addRange(const StepFacts &facts, const Evaluation &plan, AlarmList &book);
    void addWaits(const StepFacts &facts);
    void addRanks(const StepFacts &facts, const Sentences &say, AlarmList &book);
    void addLinks(const StepFacts &facts, const Sentences &say, AlarmList &book);
    void addLink(const LinkRate &rate, const StepFacts &facts, const Sentences &say, AlarmList &book);
    LinkLevels &linkOf(int a, int b);
    void tellLink(const LinkLevels &link, const LevelPoint &first, const std::string &place, const Sentences &say,
        AlarmList &book);
    void follow(const std::optional<LevelChange> &change, Pending made);
    [[nodiscard]] const Alarm *causeOf(const Pending &one, const AlarmList &book) const;
    void endOf(const Pending &one, const LevelPoint &at, AlarmList &book);
    [[nodiscard]] double least(RuleId rule) const { return m_options.rules.threshold(rule); }
    [[nodiscard]] LevelRules rules() const { return { m_options.errors, m_options.leastSteps }; }

    const WatchOptions &m_options;
    LevelWatch m_step;
    bool m_isBeyondRange = false;
    bool m_hasSpans = false;
    std::map<int, LevelWatch> m_stages;
    std::map<int, RankLevels> m_ranks;
    std::map<std::pair<int, int>, LinkLevels> m_links;
    /// until they are over
    std::vector<Pending> m_pending;
    /// told or not, over now
    std::vector<std::pair<Pending, LevelPoint>> m_ended;
};

} // namespace trainyard::watch
