// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/live/alarms/what_if.h"

#include <cmath>

namespace trainyard::watch {

namespace {

constexpr double kNeverPays = 1e12; // a move that pays later than that never does

std::string whyNot(const Evaluation &evaluation)
{
    if (!evaluation.layout.unplaced.empty())
        return evaluation.layout.unplaced;
    for (const Problem &problem : evaluation.problems)
        if (problem.severity == Severity::Blocking)
            return problem.text;
    return "no step of it can be told";
}

} // namespace

WhatIfAnswer answerOf(const WhatIf &asked, const Evaluation &staying, const Evaluation &changed)
{
    WhatIfAnswer answer;
    answer.stayingSeconds = staying.metrics.iterationTime.value_or(0);
    answer.secondsPerStep = changed.metrics.iterationTime.value_or(0);
    answer.usdPerStep = changed.metrics.cost.usdPerIteration.value_or(0);
    if (!changed.feasible() || !(answer.secondsPerStep > 0)) {
        answer.secondsPerStep = answer.usdPerStep = 0;
        answer.sentence = "It cannot run so: " + whyNot(changed);
        return answer;
    }
    if (const std::string why = whyNotCompared(staying, changed); !why.empty()) {
        answer.stayingSeconds = answer.secondsPerStep = answer.usdPerStep = 0;
        answer.sentence = capitalised(why);
        return answer;
    }
    const double saved = answer.stayingSeconds - answer.secondsPerStep;
    const std::string steps = secondsText(answer.secondsPerStep)
        + (answer.stayingSeconds > 0 ? " instead of " + secondsText(answer.stayingSeconds) : std::string());
    const bool areEqual = std::abs(saved) < 5e-4 * answer.stayingSeconds;
    if (asked.kind != WhatIfKind::MoveNow) {
        answer.sentence = areEqual ? "The step stays at " + secondsText(answer.secondsPerStep)
                                   : "The step takes " + steps
                + (answer.stayingSeconds > 0 ? " (" + changeText(answer.stayingSeconds, answer.secondsPerStep) + ")"
                                             : std::string());
        if (asked.switchSeconds > 0)
            answer.sentence += ", after a restart of " + durationText(asked.switchSeconds);
        return answer;
    }
    // n steps at their new length and the restart take no longer than n steps as they are: n >= restart / saved.
    const double least = saved > 0 ? std::ceil(asked.switchSeconds / saved * (1 - 1e-12)) : kNeverPays;
    if (areEqual || least >= kNeverPays) {
        answer.sentence = "Moving never pays: the step would take " + steps;
        return answer;
    }
    answer.paysAfterSteps = static_cast<std::int64_t>(least);
    answer.sentence = "Moving pays after " + (least == 1 ? "1 step" : wholeText(least) + " steps") + " ("
        + durationText(least * answer.stayingSeconds) + "): the step takes " + steps + ", the restart "
        + durationText(asked.switchSeconds);
    return answer;
}

} // namespace trainyard::watch
