#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How one group of alternatives is made, for the files that each make some: choices with their names, and the plan that
// each leads to. Private to the folder.

#include "core/evaluation/advice/alternatives.h"
#include "core/facts/plan/enum_names.h"

#include <algorithm>
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

/// Adds one group: every choice with the plan that `apply` makes of it.
template <class Value, class Apply>
void addGroup(std::vector<Alternative> &out, const Plan &plan, const std::string &group, const std::string &name,
    const std::vector<Choice<Value>> &choices, const Value &current, Apply apply)
{
    const auto now = std::ranges::find(choices, current, &Choice<Value>::value);
    for (const Choice<Value> &choice : choices) {
        Alternative a;
        a.id = group + "=" + choice.key;
        a.group = group;
        a.label = choice.label;
        a.isCurrent = choice.value == current;
        a.blockedBecause = a.isCurrent ? std::string {} : choice.blocked;
        if (now != choices.end())
            a.sentence = name + " " + now->label + " → " + choice.label;
        if (a.blockedBecause.empty()) {
            Plan next = plan;
            if (!a.isCurrent)
                apply(next, choice.value);
            a.plan = std::make_shared<const Plan>(std::move(next));
        }
        out.push_back(std::move(a));
    }
}

/// Every value of an enum, in its order and as people call it.
template <NamedEnum E> std::vector<Choice<E>> choicesOf(const std::string &blocked = {})
{
    std::vector<Choice<E>> choices;
    for (const EnumName &one : kNamesOf<E>)
        choices.push_back({ E(choices.size()), one.name, one.label, blocked });
    return choices;
}

/// 1, 2, 4, … up to `last`.
[[nodiscard]] inline std::set<int> powersOfTwo(int last)
{
    std::set<int> values;
    for (int v = 1; v <= last; v *= 2)
        values.insert(v);
    return values;
}

inline std::vector<Choice<int>> numbers(const std::set<int> &values)
{
    std::vector<Choice<int>> choices;
    for (const int value : values)
        choices.push_back({ value, std::to_string(value), std::to_string(value), {} });
    return choices;
}

/// Connections, sharing, cells, turns, congestion control, all-reduce, local SGD and compression between datacenters.
/// Only what the plan leaves open: no turns without cells, no exchange without local SGD.
void addWanStrategies(std::vector<Alternative> &out, const Plan &plan);
/// Recomputation, states off the GPU, optimizer, compression of what is saved: every switch of the memory ladder that
/// the plan leaves open. `model` may be null.
void addMemoryStrategies(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model);
/// Prefill in the bubbles, and where it is on, model, stages, arrivals and chaining. `model`: the one that is trained,
/// where known.
void addBubbleFill(std::vector<Alternative> &out, const Plan &plan, const Catalogue &catalogue, const ModelSpec *model);
/// Where activations wait for the backward pass, and where they leave, how much of them and chosen how.
void addActivationOffload(std::vector<Alternative> &out, const Plan &plan);
/// How unequal GPUs share work, states and layers, and the order of their accumulation; nothing where GPUs are equal
/// and the plan says nothing of it.
void addMixedGpus(std::vector<Alternative> &out, const Plan &plan);
/// Where experts lie, how tokens travel to them, and what runs beside that; nothing where the model has none.
void addExperts(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model);

} // namespace trainyard::detail
