// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/log_parser.h"

#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace trainyard::readers {

namespace {

constexpr Moment kOneLineOfManyProcesses = Moment(10) * 1'000'000'000; // restarting takes longer
constexpr std::size_t kMostKnownArguments = 10'000;

} // namespace

LogParser::Progress LogParser::follow(std::int64_t step, std::optional<Moment> stamp, const TextLine &line)
{
    tellStep(step);
    if (m_step && step <= *m_step) {
        const auto same = m_stamps.lately(step);
        if (stamp && same && std::abs(*stamp - *same) <= kOneLineOfManyProcesses)
            return Progress::Repeated;
        note(m_told,
            "At line " + std::to_string(line.number) + " the counter went back from step " + std::to_string(*m_step)
                + " to " + std::to_string(step) + ": the run was restarted, the later values are kept");
    }
    const bool wentBack = m_step && step <= *m_step;
    m_step = step;
    if (stamp) {
        if (!wentBack && !m_stamps.isEmpty() && *stamp < m_stamps.last().at && !std::exchange(m_hasClockGoneBack, true))
            note(m_told, "The clock of the log goes back at line " + std::to_string(line.number));
        m_stamps.add(step, *stamp);
        m_book.addMoment(samples::kStepEnded, "1", *stamp, static_cast<double>(step));
    }
    return wentBack ? Progress::WentBack : Progress::Forward;
}

bool LogParser::isRepeated(std::int64_t step, std::optional<Moment> stamp, const TextLine &line)
{
    const bool isOther = !stamp && m_process && *m_process != line.process;
    if (!isOther)
        m_process = line.process;
    const bool isAgain = isOther || follow(step, stamp, line) == Progress::Repeated;
    m_repeats += isAgain ? 1 : 0;
    return isAgain;
}

void LogParser::tellStep(std::int64_t step)
{
    if (m_toldStep != step)
        ++m_stepsTold;
    m_toldStep = step;
}

void LogParser::timesFromStamps(bool isLast)
{
    if (m_printsStepTimes)
        return;
    m_stamps.give(
        isLast, [this](std::int64_t step, double seconds) { m_book.addStep(samples::kStepTime, "s", step, seconds); });
    if (!isLast)
        return;
    if (const std::int64_t gaps = m_stamps.gaps(); gaps > 0)
        note(m_told,
            (gaps == 1 ? std::string("One gap between time stamps is")
                       : std::to_string(gaps) + " gaps between time stamps are")
                + " of more than a day or a hundred times the usual step: another attempt begins there, and no time is "
                  "made of it");
    if (m_stamps.hasGiven())
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
    m_printsStepTimes = m_printsStepTimes || metric.name == samples::kStepTime;
    m_book.addStep(metric.name, metric.unit, step, value * metric.factor);
}

void LogParser::addArgument(const std::string &name, std::string value)
{
    if (!m_knownArguments.contains(name)) {
        if (m_knownArguments.size() >= kMostKnownArguments)
            return;
        m_knownArguments.insert(name);
        m_begunArguments.push_back(name);
    }
    m_arguments[name] = std::move(value);
}

void LogParser::end()
{
    finish();
    if (m_repeats > 0)
        drop(m_told, "lines that several ranks print of one step", m_repeats);
    if (!m_stamps.isEmpty())
        note(m_told, "Its time stamps name no zone: they are taken as UTC");
}

void LogParser::give(Recording &recording, const SeriesBook::Naming &nameOf, const ArgumentNaming &isOwn)
{
    giveMore(recording);
    for (auto &[name, value] : std::exchange(m_arguments, {}))
        if (isOwn(name))
            recording.arguments.insert_or_assign(name, std::move(value));
    const std::int64_t gaveWay = m_book.give(recording, 0, nameOf);
    RecordedSource &source = recording.sources.front();
    drop(source, "values of steps that a later line tells again", gaveWay);
    for (const Dropped &dropped : std::exchange(m_told.dropped, {}))
        drop(source, dropped.reason, dropped.count);
    for (; m_notesGiven < m_told.notes.size(); ++m_notesGiven)
        note(source, m_told.notes[m_notesGiven]);
}

} // namespace trainyard::readers
