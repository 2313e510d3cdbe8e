// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/telemetry/readers/log_parser.h"

#include "core/telemetry/readers/metric_names.h"
#include "core/telemetry/sample_names.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace trainyard::readers {

namespace {

constexpr Moment kSecond = 1'000'000'000;
constexpr Moment kOneLineOfManyProcesses = 10 * kSecond; // restarting takes longer

} // namespace

LogParser::Progress LogParser::follow(std::int64_t step, std::optional<Moment> stamp, const LogLine &line)
{
    if (m_step && step <= *m_step) {
        const auto same =
            std::find_if(m_stamps.rbegin(), m_stamps.rbegin() + std::min<std::ptrdiff_t>(std::ssize(m_stamps), 8),
                [&](const Stamped &known) { return known.step == step; });
        if (stamp && same != m_stamps.rend() && same->step == step
            && std::abs(*stamp - same->at) <= kOneLineOfManyProcesses)
            return Progress::Repeated;
        note(m_told,
            "At line " + std::to_string(line.number) + " the counter went back from step " + std::to_string(*m_step)
                + " to " + std::to_string(step) + ": the run was restarted, the later values are kept");
    }
    const bool wentBack = m_step && step <= *m_step;
    m_step = step;
    if (stamp) {
        if (!wentBack && !m_stamps.empty() && *stamp < m_stamps.back().at && !std::exchange(m_hasClockGoneBack, true))
            note(m_told, "The clock of the log goes back at line " + std::to_string(line.number));
        m_stamps.push_back({ step, *stamp });
        m_book.addMoment(samples::kStepEnded, "1", *stamp, static_cast<double>(step));
    }
    return wentBack ? Progress::WentBack : Progress::Forward;
}

void LogParser::timesFromStamps()
{
    bool isMade = false;
    for (std::size_t i = 1; i < m_stamps.size(); ++i) {
        const std::int64_t steps = m_stamps[i].step - m_stamps[i - 1].step;
        const Moment time = m_stamps[i].at - m_stamps[i - 1].at;
        if (steps <= 0 || time <= 0)
            continue;
        isMade = true;
        m_book.addStep(samples::kStepTime, "s", m_stamps[i].step,
            static_cast<double>(time) / static_cast<double>(steps) / double(kSecond));
    }
    if (isMade)
        note(m_told,
            "The log prints no step times: they are the differences of its time stamps, with whatever else "
            "happened between two lines");
}

bool LogParser::sure(int sureness)
{
    m_sureness = std::max(m_sureness, sureness);
    return true;
}

void LogParser::addField(std::string_view key, double value, std::int64_t step)
{
    const MetricName metric = metricNamed(key);
    m_book.addStep(metric.name, metric.unit, step, value * metric.factor);
}

void LogParser::close(Recording &recording)
{
    finish(recording);
    const std::int64_t gaveWay = m_book.close(recording, 0, m_family);
    RecordedSource &source = recording.sources.front();
    drop(source, "values of steps that a later line tells again", gaveWay);
    for (const Dropped &dropped : m_told.dropped)
        drop(source, dropped.reason, dropped.count);
    for (std::string &text : m_told.notes)
        note(source, std::move(text));
    if (!m_stamps.empty())
        note(source, "Its time stamps name no zone: they are taken as UTC");
}

} // namespace trainyard::readers
