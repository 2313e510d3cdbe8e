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
constexpr Moment kDay = 86'400 * kSecond;
constexpr double kOtherAttempt = 100; // usual steps without a line
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
    std::vector<double> usual; // nanoseconds a step
    for (std::size_t i = 1; i < m_stamps.size(); ++i)
        if (m_stamps[i].step > m_stamps[i - 1].step && m_stamps[i].at > m_stamps[i - 1].at)
            usual.push_back(static_cast<double>(m_stamps[i].at - m_stamps[i - 1].at)
                / static_cast<double>(m_stamps[i].step - m_stamps[i - 1].step));
    const auto middle = usual.begin() + static_cast<std::ptrdiff_t>(usual.empty() ? 0 : (usual.size() - 1) / 2);
    if (!usual.empty())
        std::ranges::nth_element(usual, middle);
    bool isMade = false;
    std::int64_t gaps = 0;
    for (std::size_t i = 1; i < m_stamps.size(); ++i) {
        const std::int64_t steps = m_stamps[i].step - m_stamps[i - 1].step;
        const Moment time = m_stamps[i].at - m_stamps[i - 1].at;
        if (steps <= 0 || time <= 0)
            continue;
        if (time > kDay || static_cast<double>(time) > kOtherAttempt * *middle * static_cast<double>(steps)) {
            ++gaps;
            continue;
        }
        isMade = true;
        m_book.addStep(samples::kStepTime, "s", m_stamps[i].step,
            static_cast<double>(time) / static_cast<double>(steps) / double(kSecond));
    }
    if (gaps > 0)
        note(m_told,
            (gaps == 1 ? std::string("One gap between time stamps is")
                       : std::to_string(gaps) + " gaps between time stamps are")
                + " of more than a day or a hundred times the usual step: another attempt begins there, and no time is "
                  "made of it");
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
