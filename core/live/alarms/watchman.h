#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at a run while it goes on, step by step, beside what its plan says, and tells what somebody should know: who
// waits for whom, which link carries less than it should, who fell silent, that what was calibrated does not hold any
// more. A change is told once, with the step and the time at which it began, and taken back when it is over; noise is
// not told (a change of level is tested against the spread of the steps before it). Not thread-safe.

#include "core/live/alarms/alarm_rules.h"
#include "core/runs/overlay/link_rates.h"
#include "core/runs/overlay/run_overlay.h"

#include <optional>
#include <vector>

namespace trainyard::watch {

enum class AlarmKind : std::uint8_t {
    /// longer than the plan's range or than the run's own steps before
    StepTime,
    /// a stage or a rank waits longer for another
    Waiting,
    /// carries less than the plan says it does
    SlowLink,
    /// computes longer than ranks like it
    Straggler,
    /// a rank or a host that nobody hears any more
    Silent,
    /// near its GPU's capacity, or growing from step to step
    Memory,
    /// what a calibration taught is off by more than its own error now
    Drift,
    /// a GPU that is throttled, hot or tells errors
    Hardware
};
/// "Slow link"
[[nodiscard]] const char *nameOf(AlarmKind kind);

struct Alarm {
    AlarmKind kind = AlarmKind::StepTime;
    /// what it is about, for comparing: "link oregon–ohio", "rank 12", "stage 5"
    std::string place;
    /// since which, and the latest that shows it; -1: no step shows it
    std::int64_t firstStep = -1, lastStep = -1;
    /// Unix ns, sender's clock; until 0: it still holds
    Moment since = 0, until = 0;
    /// that it costs; 0: not told
    double secondsPerStep = 0;
    /// of what the plan says, where it is a rate (0.61) or a ratio (1.3); 0: none
    double share = 0;
    /// that it is about
    std::vector<int> ranks;
    /// of the plan's cluster, of a link; -1: none
    int datacenter = -1, otherDatacenter = -1;
    // "Step 1,240: stage 5 waits 80 ms more for Oregon since 14:02; link at 61 % of plan"
    std::string sentence;
    /// by which it is raised; empty: the only one of its kind
    std::optional<RuleId> told = {};
    [[nodiscard]] RuleId rule() const { return told.value_or(ruleOf(kind)); }
    [[nodiscard]] bool isOver() const { return until != 0; }
    bool operator==(const Alarm &) const = default;
};

/// core/runs/overlay/link_rates.h
using trainyard::LinkRate;
/// What transfers between datacenters were measured to do in a step, beside what the plan says of them; for all
/// directions that carried something. None without a plan or without spans.
[[nodiscard]] std::vector<LinkRate> linkRates(const RunOverlay &overlay, const RunStep &step);

/// How many of the run's steps, from the first on. Not those behind the one that began last: they are of ranks that
/// went with an attempt before. Steps that logs alone tell have no beginning and count.
[[nodiscard]] std::size_t stepsThatCount(const Run &run);

struct WatchOptions {
    /// thresholds and hold times of the user's
    AlarmRules rules;
    /// standard errors that a change of level has to exceed
    double errors = 5;
    /// that show it
    int leastSteps = 3;
    /// of times in sentences
    int utcOffsetSeconds = 0;
};

/// Who was heard when; of a live session.
struct Heard {
    int rank = -1;
    std::string host;
    /// Unix ns of this machine
    Moment at = 0;
    std::int64_t step = -1;
};

class Watchman {
public:
    explicit Watchman(const WatchOptions &options = {});
    ~Watchman();
    /// Looks at the steps that it has not seen yet; of a live run (`heard` is not empty) the newest that not all ranks
    /// have told of wait for two newer ones. `now`: Unix ns; `heard` may be empty (a recording that is over).
    /// Another plan judges the steps of the run that were seen again, as if it had been there from the first on.
    void look(const RunOverlay &overlay, const std::vector<Heard> &heard, Moment now);
    /// From the next look on; what holds by other thresholds stays until it is over.
    void setRules(const AlarmRules &rules);
    /// All since it began that held as long as their rule wants and whose rule is on: those that hold first, the
    /// costliest of them first, then those that are over, newest first; 1,000 at most.
    [[nodiscard]] const std::vector<Alarm> &alarms() const;
    /// For each step seen, measured beside predicted: for a strip of numbers and for curves. NaN: not told. Of more
    /// than 65,536 the older half is thinned: of each four steps the shortest and the longest stay.
    struct StepFigures {
        std::int64_t number = 0;
        double seconds = 0, compute = 0, communication = 0, waiting = 0, bubble = 0, host = 0;
        double tokensPerSecond = 0, peakBytes = 0;
    };
    [[nodiscard]] const std::vector<StepFigures> &steps() const;
    /// of the plan
    [[nodiscard]] const StepFigures &predicted() const;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard::watch
