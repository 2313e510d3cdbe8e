#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How the files of this folder each make some axes: what they may read, and what keeps an axis or leaves it out.
// Private to the folder. A value sets its own keys and nothing else; which values go together is told by rules.h.

#include "core/facts/hardware/stack_spec.h"
#include "core/facts/plan/key_list.h"
#include "core/iteration/placement/degrees.h"
#include "core/planner/space/space.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace trainyard::detail {

/// What makers of axes read.
struct Scope {
    const Plan &plan;
    const SpaceOptions &options;
    /// null where the plan trains jobs
    const ModelSpec *model = nullptr;
    StackSpec stack;
    Degrees now;
    int gpus = 0, largestNode = 1;
    /// that have GPUs and may be used
    int datacenters = 0;
    /// that have GPUs
    int sites = 0;
    /// GPUs of more than one kind
    bool isMixed = false;
    /// every pool says what its hosts have
    bool statesHosts = false;
    /// all GPUs together hold the states less than twice
    bool isScarce = false;
    /// false: measured stage times hold for the present shape alone
    bool hasLayers = true;
};

class AxisList {
public:
    explicit AxisList(const Scope &scope)
        : m_scope(scope)
    {
    }

    /// `values` in their order, `current` among them or put in front; what they set is called as the key and is its
    /// value and those of `others`. Left out: a fixed key, values that train otherwise, an axis of one value.
    template <class Value, class Set, class Text>
    void add(const KeyRow &row, std::vector<Value> values, const Value &current, Set set, Text text,
        const std::vector<std::string> &others = {})
    {
        std::vector<std::string> keys { row.path };
        keys.insert(keys.end(), others.begin(), others.end());
        if (isFixed(keys))
            return;
        if (std::ranges::find(values, current) == values.end())
            values.insert(values.begin(), current);
        Axis axis { row.axisId(), std::move(keys), row.key.choice.label, {}, 0 };
        for (const Value &value : values) {
            const bool isBase = value == current;
            AxisValue made { text(value), [set, value](Plan &plan) { set(plan, value); } };
            if (!isBase && !mayTakeIt(made))
                continue;
            if (isBase)
                axis.base = static_cast<std::uint16_t>(axis.values.size());
            axis.values.push_back(std::move(made));
        }
        if (axis.values.size() > 1)
            m_axes.push_back(std::move(axis));
    }
    using TextOf = std::string (*)(const KeyRow &, KeyValue);
    /// Values of one key.
    void addValues(const KeyRow &row, std::vector<KeyValue> values, TextOf text = shownText);
    /// Numbers in rising order, thinned where they are many.
    void addNumbers(const KeyRow &row, std::set<int> values);
    /// Those that the row says, but `without`.
    void offer(const KeyRow &row, const std::set<KeyValue> &without = {});
    /// Axes of which nothing but the row of their key speaks, where they apply and are not there yet.
    void offerRest();

    /// One made elsewhere, whose values train alike.
    void addMade(Axis axis)
    {
        if (!isFixed(axis.keys))
            m_axes.push_back(std::move(axis));
    }

    /// Of an axis, if it was made: how many values were left out.
    void setThinned(const KeyRow &row, std::size_t values)
    {
        for (Axis &axis : m_axes)
            if (axis.id == row.axisId())
                axis.thinned = values;
    }
    [[nodiscard]] bool isFixed(const std::vector<std::string> &keys) const;
    [[nodiscard]] static std::string shownText(const KeyRow &row, KeyValue value) { return row.shownText(value); }

    [[nodiscard]] std::vector<Axis> take() { return std::move(m_axes); }

private:
    [[nodiscard]] bool mayTakeIt(const AxisValue &value) const;
    [[nodiscard]] bool isOpen(const KeyRow &row) const;
    [[nodiscard]] std::vector<int> thinned(std::set<int> values, int current) const;

    const Scope &m_scope;
    std::vector<Axis> m_axes;
};

[[nodiscard]] inline std::set<int> powersOfTwo(int last)
{
    std::set<int> values;
    for (int v = 1; v <= last; v *= 2)
        values.insert(v);
    return values;
}

/// Places of an enum's values, to leave out.
template <NamedEnum... E> [[nodiscard]] std::set<KeyValue> placesOf(E... values)
{
    return { KeyValue(double(values))... };
}

/// Tensor, pipeline, context, expert degrees, replicas, virtual stages, sequence parallel, ZeRO.
void addDegreeAxes(AxisList &axes, const Scope &scope);
/// Schedule and micro-batch.
void addScheduleAxes(AxisList &axes, const Scope &scope);
/// Recomputation and what leaves the GPU.
void addMemoryAxes(AxisList &axes, const Scope &scope);
/// How tokens travel to their experts.
void addExpertAxes(AxisList &axes, const Scope &scope);
/// Where the stages lie, and how many layers each has.
void addPlacementAxes(AxisList &axes, const Scope &scope);
/// What crosses the WAN and how.
void addWanAxes(AxisList &axes, const Scope &scope);
/// How unequal GPUs share the work.
void addMixedAxes(AxisList &axes, const Scope &scope);
/// Of a plan with jobs: who schedules them and how.
void addJobAxes(AxisList &axes);
/// What has the model learn otherwise: precision, optimizer, fewer bits, local SGD.
void addNumericAxes(AxisList &axes, const Scope &scope);

} // namespace trainyard::detail
