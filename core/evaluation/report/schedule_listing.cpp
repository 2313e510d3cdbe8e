// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/catalogue_listing.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/plan/plan_io.h"

namespace trainyard {

namespace {

/// What `virtual_pipeline` may be: 1 stands for two where two legs or copies are what the schedule is.
std::string chunksText(const ScheduleTraits &schedule)
{
    const CountRule &rule = schedule.chunks;
    if (schedule.isLoop() || schedule.isSliced())
        return rule.most == 1 ? "1" : rule.least == 1 ? "any" : std::to_string(rule.least) + " or more";
    return rule.most == 2 ? "1 or 2" : "even, or 1 for 2";
}

std::string ruleText(const CountRule &rule, const std::string &what)
{
    std::string text;
    const auto add = [&](bool holds, const char *part) {
        text += holds ? (text.empty() ? "; " + what + " " : " and ") + part : "";
    };
    add(rule.stepPerStage == 1, "a multiple of the stages");
    add(rule.step == 2, "even");
    add(rule.leastPerStage == 2, "at least twice the stages");
    return text;
}

} // namespace

CatalogueListing scheduleListing(const Catalogue &)
{
    CatalogueListing listing { "schedules",
        { { "id", "id" }, { "name", "" }, { "order", "order" }, { "virtual_pipeline", "virtual_pipeline" },
            { "in_flight", "micro-batches in flight at most" }, { "bubble", "longest wait of a device" },
            { "splits_backward", "" }, { "model_copies", "" } },
        {} };
    for (const ScheduleTraits *schedule : allSchedules())
        listing.rows.push_back({ toString(schedule->kind), schedule->label,
            schedule->text + ruleText(schedule->stages, "stages") + ruleText(schedule->microBatches, "micro-batches"),
            chunksText(*schedule), schedule->holds,
            *schedule->bubble ? CatalogueCell(schedule->bubble) : CatalogueCell(), schedule->splitsBackward,
            double(schedule->copies()) });
    return listing;
}

} // namespace trainyard
