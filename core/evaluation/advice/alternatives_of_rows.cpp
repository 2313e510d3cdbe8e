// SPDX-License-Identifier: GPL-3.0-or-later
// Alternatives as the rows of the keys tell them (core/facts/plan/keys/).
#include "core/evaluation/advice/alternatives_internal.h"

namespace trainyard::detail {

void addChoices(Alternatives &out, const Plan &plan, const KeyRow &row, const Choices &choices, KeyValue current,
    const Follow &follow)
{
    addGroup(out, plan, row, choices, current, [&](Plan &next, KeyValue value) {
        row.set(next, value);
        if (follow)
            follow(next, value);
    });
}

void addChoices(Alternatives &out, const Plan &plan, const KeyRow &row, const Choices &choices, const Follow &follow)
{
    addChoices(out, plan, row, choices, row.value(plan), follow);
}

Choices choicesOf(const KeyRow &row, const std::vector<KeyValue> &values, const std::string &blocked)
{
    Choices choices;
    for (const KeyValue value : values)
        choices.push_back({ value, row.fileText(value), row.shownText(value), blocked });
    return choices;
}

Choices choicesOf(const KeyRow &row, const Plan &plan, const std::string &blocked)
{
    return choicesOf(row, row.values(plan, row.key.choice.values), blocked);
}

Choices choicesOf(const KeyRow &row, const std::set<int> &values)
{
    return choicesOf(row, std::vector<KeyValue>(values.begin(), values.end()));
}

void offer(Alternatives &out, const Plan &plan, const KeyRow &row, const std::string &blocked)
{
    const char *rests = row.key.choice.rests ? row.key.choice.rests(plan) : "";
    addChoices(out, plan, row, choicesOf(row, plan, blocked.empty() ? rests : blocked));
}

void offerRest(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    for (const KeyRow &row : planKeys()) {
        const bool isOpen = row.applies(plan) && (!row.path.starts_with("moe.") || (model && model->isMoe()));
        if (row.key.choice.isOffered && isOpen && std::ranges::find(out, row.group(), &Alternative::group) == out.end())
            offer(out, plan, row);
    }
}

void blockWhatIsMeasured(Alternatives &out)
{
    for (const KeyRow &row : planKeys())
        for (Alternative &a : out)
            if (row.key.choice.measured && a.group == row.group() && !a.isCurrent && a.plan) {
                a.plan.reset();
                a.blockedBecause = std::string(kMeasured) + ": " + row.key.choice.measured + " fixed";
            }
}

} // namespace trainyard::detail
