// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/causes/machine_text.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace trainyard::test {

namespace {

std::string number(double value)
{
    char text[32];
    (void)std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

/// "key":[…]
class Column {
public:
    explicit Column(const char *key)
        : m_text("\"" + std::string(key) + "\":[")
    {
    }
    void add(std::int64_t value) { put(std::to_string(value)); }
    void addMoment(std::int64_t value)
    {
        put(std::to_string(value - m_before));
        m_before = value;
    }
    void addReal(double value) { put(number(value)); }
    [[nodiscard]] std::string text() const { return m_text + "]"; }

private:
    void put(const std::string &value)
    {
        m_text += (m_isFirst ? "" : ",") + value;
        m_isFirst = false;
    }
    std::string m_text;
    std::int64_t m_before = 0;
    bool m_isFirst = true;
};

std::string spansText(const std::vector<MachineSpan> &spans)
{
    Column start("start_ns"), duration("duration_ns"), name("name"), work("work"), launched("launched_before_ns");
    for (const MachineSpan &one : spans) {
        start.addMoment(one.start);
        duration.add(one.duration);
        name.add(one.name);
        work.add(one.communicates ? 1 : 0);
        launched.add(one.start - one.launched);
    }
    return "{" + start.text() + "," + duration.text() + "," + name.text() + "," + work.text() + "," + launched.text()
        + "}";
}

std::string collectivesText(const MachineRankText &rank)
{
    std::vector<std::tuple<std::int64_t, int, int>> order;
    for (int s = 0; s < int(rank.streams.size()); ++s)
        for (int i = 0; i < int(rank.streams[std::size_t(s)].size()); ++i)
            if (const MachineSpan &one = rank.streams[std::size_t(s)][std::size_t(i)]; one.group >= 0)
                order.emplace_back(one.start, s, i);
    std::ranges::sort(order);
    Column group("group"), operation("operation"), sequence("sequence"), bytes("bytes"), start("start_ns"),
        duration("duration_ns"), stream("stream"), span("span");
    for (const auto &[at, s, i] : order) {
        const MachineSpan &one = rank.streams[std::size_t(s)][std::size_t(i)];
        group.add(one.group);
        operation.add(one.operation);
        sequence.add(one.sequence);
        bytes.addReal(one.bytes);
        start.addMoment(one.start);
        duration.add(one.duration);
        stream.add(s);
        span.add(i);
    }
    std::string text = "{";
    for (const Column *column : { &group, &operation, &sequence, &bytes, &start, &duration, &stream })
        text += column->text() + ",";
    return text + span.text() + "}";
}

std::string stepsText(const MachineRankText &rank)
{
    Column numbers("number"), start("start_ns"), end("end_ns");
    for (std::size_t i = 0; i < rank.steps.size(); ++i) {
        numbers.add(std::int64_t(i) + 1);
        start.addMoment(rank.steps[i].first);
        end.addMoment(rank.steps[i].second);
    }
    return "{" + numbers.text() + "," + start.text() + "," + end.text() + "}";
}

std::string clockText(int rank, const MachineRankText &of)
{
    Column at("at"), value("value");
    for (const auto &[moment, hertz] : of.clock) {
        at.addMoment(moment);
        value.addReal(hertz);
    }
    return R"({"name":"sm_clock","unit":"Hz","rank":)" + std::to_string(rank) + "," + at.text() + "," + value.text()
        + "}";
}

} // namespace

int MachineText::name(const std::string &text)
{
    const auto [known, isNew] = m_nameOf.try_emplace(text, int(m_names.size()));
    if (isNew)
        m_names.push_back(text);
    return known->second;
}

int MachineText::group(const std::vector<int> &ranks)
{
    const auto [known, isNew] = m_groupOf.try_emplace(ranks, int(m_groups.size()));
    if (isNew)
        m_groups.push_back(ranks);
    return known->second;
}

std::string MachineText::write(const std::vector<MachineRankText> &ranks) const
{
    std::string text = R"({"format":"trainyard.recording","version":1,"name":"a run","names":[)";
    for (std::size_t i = 0; i < m_names.size(); ++i)
        text += (i > 0 ? ",\"" : "\"") + m_names[i] + "\"";
    text += "],\"groups\":[";
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
        text += std::string(g > 0 ? "," : "") + R"({"name":"g)" + std::to_string(g) + R"(","ranks":[)";
        for (std::size_t i = 0; i < m_groups[g].size(); ++i)
            text += (i > 0 ? "," : "") + std::to_string(m_groups[g][i]);
        text += "]}";
    }
    text += "],\"series\":[";
    bool isFirst = true;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        if (!ranks[r].clock.empty()) {
            text += (isFirst ? "" : ",") + clockText(int(r), ranks[r]);
            isFirst = false;
        }
    text += "],\"ranks\":[";
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        text += std::string(r > 0 ? ",\n" : "\n") + R"({"rank":)" + std::to_string(r) + R"(,"world_size":)"
            + std::to_string(ranks.size()) + R"(,"host":")" + ranks[r].host + R"(","steps":)" + stepsText(ranks[r])
            + R"(,"collectives":)" + collectivesText(ranks[r]) + R"(,"streams":[)";
        for (std::size_t s = 0; s < ranks[r].streams.size(); ++s)
            text += std::string(s > 0 ? "," : "") + R"({"gpu":true,"device":0,"stream":)" + std::to_string(7 + s)
                + R"(,"spans":)" + spansText(ranks[r].streams[s]) + "}";
        text += "]}";
    }
    return text + "]}\n";
}

} // namespace trainyard::test
