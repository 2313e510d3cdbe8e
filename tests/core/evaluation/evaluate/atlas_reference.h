#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A second simulator of the Atlas specification, sections 2.4 and 2.5, written from their sentences alone and sharing
// no code with the core: one DP-cell, local boundaries free, whole nanoseconds, everything looked at anew at each
// instant. It keeps every turn on a shared channel, and can let channels choose too early, so that tests see what ties
// decide.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace trainyard::test {

struct AtlasCase {
    int stages = 2, microBatches = 1, pipelines = 1;
    std::set<int> wanAfter; // stages whose boundary to the next crosses the WAN
    std::int64_t forward = 0, backward = 0, recompute = 0, latency = 0,
                 serialization = 0; // hold: of the channel, for one activation
    std::vector<int> inFlight; // per stage; empty: no limit
    bool temporal = false; // the pipelines share each channel, lowest micro-batch first, then lowest pipeline
    bool hasty = false; // not the rule: a freed channel chooses before that instant's arrivals
};

class AtlasReference {
public:
    using ChannelKey = std::tuple<int, int, bool>; // pipeline (0 where shared), boundary, backward?
    struct Turn {
        std::int64_t start;
        int microBatch, pipeline;
        bool operator==(const Turn &) const = default;
    };

    explicit AtlasReference(AtlasCase of)
        : m_case(std::move(of))
        , m_stages(std::size_t(m_case.stages * m_case.pipelines))
    {
        for (int k = 0; k < m_case.pipelines; ++k)
            for (int m = 0; m < m_case.microBatches; ++m)
                at(k, 0).inputs.insert(m);
    }

    std::int64_t iteration()
    {
        for (int k = 0; k < m_case.pipelines; ++k)
            for (int i = 0; i < m_case.stages; ++i)
                choose(k, i);
        while (!m_ends.empty() || !m_arrivals.empty()) {
            const std::int64_t ends = m_ends.empty() ? INT64_MAX : m_ends.begin()->first;
            m_now = std::min(ends, m_arrivals.empty() ? INT64_MAX : m_arrivals.begin()->first);
            instant();
        }
        return m_last;
    }

    /// Of each channel, in the order in which it served them.
    [[nodiscard]] const std::map<ChannelKey, std::vector<Turn>> &turns() const { return m_turns; }

private:
    enum class Work { Forward, Backward, Recompute, Transfer };
    struct Stage {
        bool busy = false;
        std::set<int> inputs, gradients, stashed, recomputed;
        int issued = 0, done = 0;
    };
    struct Channel {
        bool busy = false;
        std::set<std::pair<int, int>> waiting;
    }; // micro-batch, pipeline
    struct Event {
        Work work;
        int pipeline, stage, microBatch;
        bool isBackward;
    };

    Stage &at(int k, int i) { return m_stages[std::size_t(k * m_case.stages + i)]; }
    ChannelKey channelOf(int k, int boundary, bool isBackward) const
    {
        return { m_case.temporal ? 0 : k, boundary, isBackward };
    }

    void start(Stage &stage, Work work, int k, int i, int m, std::int64_t duration)
    {
        stage.busy = true;
        m_ends.insert({ m_now + duration, Event { work, k, i, m, false } });
    }

    void choose(int k, int i)
    {
        Stage &stage = at(k, i);
        const bool isLast = i + 1 == m_case.stages;
        const int limit = m_case.inFlight.empty() ? m_case.microBatches : m_case.inFlight[std::size_t(i)];
        if (stage.busy)
            return;
        if (!stage.gradients.empty()) {
            const int m = *stage.gradients.begin();
            stage.gradients.erase(m);
            const bool again = !isLast && !stage.recomputed.contains(m);
            return start(stage, Work::Backward, k, i, m, m_case.backward + (again ? m_case.recompute : 0));
        }
        const bool isFull = stage.issued - stage.done >= limit;
        if (!stage.inputs.empty() && !isFull) {
            const int m = *stage.inputs.begin();
            stage.inputs.erase(m);
            ++stage.issued;
            return start(stage, Work::Forward, k, i, m, m_case.forward);
        }
        if (isLast || stage.stashed.empty() || (stage.issued < m_case.microBatches && !isFull))
            return;
        if (const int oldest = *stage.stashed.begin(); !stage.recomputed.contains(oldest))
            start(stage, Work::Recompute, k, i, oldest, m_case.recompute);
    }

    void serve(const ChannelKey &key)
    {
        Channel &channel = m_channels[key];
        if (channel.busy || channel.waiting.empty())
            return;
        const auto [m, k] = *channel.waiting.begin();
        channel.waiting.erase(channel.waiting.begin());
        channel.busy = true;
        m_turns[key].push_back({ m_now, m, k });
        m_ends.insert(
            { m_now + m_case.serialization, Event { Work::Transfer, k, std::get<1>(key), m, std::get<2>(key) } });
    }

    /// Completions; choices of the freed stages among what was there before; arrivals; choices of stages still free;
    /// then the channels, once nothing more can arrive at this instant.
    void instant()
    {
        std::vector<std::pair<int, int>> freed;
        std::vector<Event> here; // results that arrive at this instant
        for (; !m_ends.empty() && m_ends.begin()->first == m_now; m_ends.erase(m_ends.begin()))
            complete(m_ends.begin()->second, freed, here);
        for (const auto &[k, i] : freed)
            choose(k, i);
        if (m_case.hasty)
            serveAll();
        for (; !m_arrivals.empty() && m_arrivals.begin()->first == m_now; m_arrivals.erase(m_arrivals.begin()))
            here.push_back(m_arrivals.begin()->second);
        for (const Event &event : here)
            deliver(event);
        for (const Event &event : here)
            if (event.work != Work::Transfer)
                choose(event.pipeline, event.stage);
        if (m_ends.empty() || m_ends.begin()->first > m_now)
            serveAll();
    }

    void serveAll()
    {
        for (const auto &[key, channel] : m_channels)
            serve(key);
    }

    void complete(const Event &event, std::vector<std::pair<int, int>> &freed, std::vector<Event> &here)
    {
        const auto [work, k, i, m, isBackward] = event;
        if (work == Work::Transfer) {
            m_channels[channelOf(k, i, isBackward)].busy = false;
            m_arrivals.insert({ m_now + m_case.latency,
                Event { isBackward ? Work::Backward : Work::Forward, k, isBackward ? i : i + 1, m, false } });
            return;
        }
        Stage &stage = at(k, i);
        stage.busy = false;
        freed.emplace_back(k, i);
        m_last = m_now;
        if (work == Work::Recompute) {
            stage.recomputed.insert(m);
        } else if (work == Work::Forward) {
            stage.stashed.insert(m);
            if (i + 1 == m_case.stages)
                stage.gradients.insert(m);
            else
                send(k, i, m, false, here);
        } else {
            stage.stashed.erase(m);
            ++stage.done;
            if (i > 0)
                send(k, i - 1, m, true, here);
        }
    }

    void send(int k, int boundary, int m, bool isBackward, std::vector<Event> &here)
    {
        if (m_case.wanAfter.contains(boundary))
            here.push_back({ Work::Transfer, k, boundary, m, isBackward });
        else
            here.push_back(
                { isBackward ? Work::Backward : Work::Forward, k, isBackward ? boundary : boundary + 1, m, false });
    }

    void deliver(const Event &event)
    {
        if (event.work == Work::Transfer)
            m_channels[channelOf(event.pipeline, event.stage, event.isBackward)].waiting.insert(
                { event.microBatch, event.pipeline });
        else
            (event.work == Work::Forward ? at(event.pipeline, event.stage).inputs
                                         : at(event.pipeline, event.stage).gradients)
                .insert(event.microBatch);
    }

    AtlasCase m_case;
    std::vector<Stage> m_stages;
    std::map<ChannelKey, Channel> m_channels;
    std::map<ChannelKey, std::vector<Turn>> m_turns;
    std::multimap<std::int64_t, Event> m_ends, m_arrivals;
    std::int64_t m_now = 0, m_last = 0;
};

} // namespace trainyard::test
