#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How one group of alternatives is made, for the files that each make some: choices with their names, and the plan that
// each leads to. Private to the folder.

#include "core/evaluation/advice/alternatives.h"
#include "core/facts/plan/key_list.h"

#include <algorithm>
#include <functional>
#include <set>

namespace trainyard::detail {

using Alternatives = std::vector<Alternative>;

template <class Value> struct Choice {
    Value value {};
    /// as in a plan file
    std::string key;
    /// as on screen
    std::string label;
    std::string blocked;
};
/// Values of a key by its row.
using Choices = std::vector<Choice<KeyValue>>;

/// A copy of the plan, which groups share: a quarter of all choices are what the plan has now.
[[nodiscard]] inline PlanPtr sameAs(const Plan &plan, const Alternatives &made)
{
    const auto known = std::ranges::find_if(made, [](const Alternative &a) { return a.isCurrent && a.plan; });
    return known != made.end() ? known->plan : std::make_shared<const Plan>(plan);
}

/// Adds one group: every choice with the plan that `apply` makes of it. The row tells what it is called.
template <class Value, class Apply>
void addGroup(Alternatives &out, const Plan &plan, const KeyRow &row, const std::vector<Choice<Value>> &choices,
    const Value &current, Apply apply)
{
    const auto now = std::ranges::find(choices, current, &Choice<Value>::value);
    for (const Choice<Value> &choice : choices) {
        Alternative a;
        a.group = row.group();
        a.id = a.group + "=" + choice.key;
        a.label = choice.label;
        a.isCurrent = choice.value == current;
        a.blockedBecause = a.isCurrent ? std::string {} : choice.blocked;
        if (now != choices.end())
            a.sentence = std::string(row.key.choice.label) + " " + now->label + " → " + choice.label;
        if (a.isCurrent) {
            a.plan = sameAs(plan, out);
        } else if (a.blockedBecause.empty()) {
            Plan next = plan;
            apply(next, choice.value);
            a.plan = std::make_shared<const Plan>(std::move(next));
        }
        out.push_back(std::move(a));
    }
}

/// The key takes the value, and what goes with it follows.
using Follow = std::function<void(Plan &, KeyValue)>;
void addChoices(Alternatives &out, const Plan &plan, const KeyRow &row, const Choices &choices, KeyValue current,
    const Follow &follow = {});
void addChoices(
    Alternatives &out, const Plan &plan, const KeyRow &row, const Choices &choices, const Follow &follow = {});

/// These values of a key, or those that its row says, with what the row calls them.
[[nodiscard]] Choices choicesOf(
    const KeyRow &row, const std::vector<KeyValue> &values, const std::string &blocked = {});
[[nodiscard]] Choices choicesOf(const KeyRow &row, const Plan &plan, const std::string &blocked = {});
[[nodiscard]] Choices choicesOf(const KeyRow &row, const std::set<int> &values);

/// All that the row says, unless `blocked` or its own reason stands against it.
void offer(Alternatives &out, const Plan &plan, const KeyRow &row, const std::string &blocked = {});
/// Of members, by their rows.
template <class... Members> void offerAll(Alternatives &out, const Plan &plan, Members... members)
{
    (offer(out, plan, rowOf(members)), ...);
}

/// 1, 2, 4, … up to `last`.
[[nodiscard]] inline std::set<int> powersOfTwo(int last)
{
    std::set<int> values;
    for (int v = 1; v <= last; v *= 2)
        values.insert(v);
    return values;
}

/// Switches of which nothing but the row of their key speaks, where they apply and are not there yet.
void offerRest(Alternatives &out, const Plan &plan, const ModelSpec *model);
/// Measured stage times are those of one stage and one micro-batch, whatever these say; other values would need other
/// measurements.
void blockWhatIsMeasured(Alternatives &out);

/// Connections, sharing, cells, turns, congestion control, all-reduce, local SGD and compression between datacenters.
/// Only what the plan leaves open: no turns without cells, no exchange without local SGD.
void addWanStrategies(Alternatives &out, const Plan &plan);
/// Recomputation, states off the GPU, optimizer, compression of what is saved: every switch of the memory ladder that
/// the plan leaves open. `model` may be null.
void addMemoryStrategies(Alternatives &out, const Plan &plan, const ModelSpec *model);
/// Prefill in the bubbles, and where it is on, model, stages, arrivals and chaining. `model`: the one that is trained,
/// where known.
void addBubbleFill(Alternatives &out, const Plan &plan, const Catalogue &catalogue, const ModelSpec *model);
/// Where activations wait for the backward pass, and where they leave, how much of them and chosen how.
void addActivationOffload(Alternatives &out, const Plan &plan);
/// How unequal GPUs share work, states and layers, and the order of their accumulation; nothing where GPUs are equal
/// and the plan says nothing of it.
void addMixedGpus(Alternatives &out, const Plan &plan);
/// Where experts lie, how tokens travel to them, and what runs beside that; nothing where the model has none.
void addExperts(Alternatives &out, const Plan &plan, const ModelSpec *model);

} // namespace trainyard::detail
