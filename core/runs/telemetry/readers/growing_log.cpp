// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/growing_log.h"

#include "core/runs/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr int kStepsToName = 2;
constexpr std::int64_t kLinesToName = 256; // lines of frameworks, of a log that tells no steps

bool isClosed(std::string_view text)
{
    return !text.empty() && std::string_view("|})]%").find(text.back()) != std::string_view::npos;
}

/// Without the last word of a line that ends in the middle.
void distrustEnd(TextLine &line)
{
    if (!line.isOpen || isClosed(line.text))
        return;
    const std::size_t end = line.text.find_last_of(" |\t");
    line.text = line.text.substr(0, end == line.text.npos ? 0 : end + 1);
}

} // namespace

GrowingLog::GrowingLog(std::string file, std::shared_ptr<const LinePattern> pattern)
    : m_file(std::move(file))
{
    if (pattern)
        m_parsers.push_back(makePatternParser(std::move(pattern)));
    m_jobs = m_parsers.size();
    // The order in which a line is offered: who is told apart by less comes later.
    for (const auto make : { makeJobLinesParser, makeMlperfParser, makeNemoParser, makeTorchtitanParser,
             makeDeepSpeedParser, makeMegatronParser, makeStepLinesParser, makeHfTrainerParser })
        m_parsers.push_back(make());
}

void GrowingLog::take(TextLine line)
{
    m_isCut = line.isOpen && !isClosed(line.text);
    distrustEnd(line);
    const auto taker = std::ranges::find_if(m_parsers, [&](const LogParserPtr &parser) { return parser->take(line); });
    if (m_isNamed) // what the job's parser saw in lines that are others'
        claim(*m_parsers[m_jobs]);
    if (taker == m_parsers.end()) {
        if (auto told = m_hasRunOut ? std::nullopt : outOfMemoryIn(line)) {
            m_outOfMemory = told;
            m_hasRunOut = m_hasTaken = true;
            ++m_taken;
            return;
        }
        ++m_others;
        return;
    }
    ++m_taken;
    m_hasTaken = true;
    if (m_isNamed)
        claim(**taker);
    else if ((*taker)->stepsTold() >= kStepsToName || ++m_untilNamed >= kLinesToName)
        name();
}

void GrowingLog::name()
{
    m_isNamed = true;
    for (LogParser *parser : bySureness())
        claim(*parser);
}

void GrowingLog::claim(LogParser &parser)
{
    for (const SampleSeries *series : parser.takeBegunSeries())
        m_series.try_emplace({ series->rank, series->name, series->where, series->isByStep }, &parser);
    for (std::string &argument : parser.takeBegunArguments())
        m_arguments.try_emplace(std::move(argument), &parser);
}

const LogParser &GrowingLog::surest() const
{
    return **std::ranges::max_element(m_parsers, {}, [](const LogParserPtr &parser) { return parser->sureness(); });
}

std::vector<LogParser *> GrowingLog::bySureness() const
{
    std::vector<LogParser *> sorted;
    for (const LogParserPtr &parser : m_parsers)
        sorted.push_back(parser.get());
    std::ranges::stable_sort(sorted, std::greater(), [](const LogParser *parser) { return parser->sureness(); });
    return sorted;
}

void GrowingLog::give(Recording &recording)
{
    RecordedSource &source = recording.sources.emplace_back();
    source.file = m_file;
    source.kind = kind();
    if (m_isNamed)
        for (LogParser *parser : bySureness()) {
            const auto nameOf = [&](const SampleSeries &series) {
                const auto owner = m_series.find({ series.rank, series.name, series.where, series.isByStep });
                return owner == m_series.end() || owner->second == parser
                    ? series.name
                    : SharedText(parser->family() + "." + series.name.text());
            };
            const auto isOwn = [&](const std::string &argument) {
                const auto owner = m_arguments.find(argument);
                return owner != m_arguments.end() && owner->second == parser;
            };
            parser->give(recording, nameOf, isOwn);
        }
    giveOutOfMemory(recording);
    RecordedSource &made = recording.sources.front();
    made.taken = std::exchange(m_taken, 0);
    drop(made, "lines without figures, or of other programs", std::exchange(m_others, 0));
    m_hasTaken = false;
}

/// What was held when memory ran out is a sample of the step that ran, unless the log tells memory itself.
void GrowingLog::giveOutOfMemory(Recording &recording)
{
    const auto told = std::exchange(m_outOfMemory, std::nullopt);
    if (!told)
        return;
    std::int64_t step = 0;
    for (const SampleSeries &series : recording.series)
        if (series.isByStep && !series.at.empty())
            step = std::max(step, series.at.back());
    const auto add = [&](const char *name, double bytes, bool isAlways) {
        const bool isTold =
            std::ranges::any_of(m_series, [&](const auto &one) { return std::get<1>(one.first) == name; });
        if (!(bytes > 0) || (isTold && !isAlways))
            return;
        SampleSeries &series = recording.series.emplace_back();
        series.name = name;
        series.unit = "B";
        series.rank = told->rank;
        series.isByStep = true;
        series.at = { step };
        series.value = { bytes };
        series.source = 0;
    };
    add(samples::kOutOfMemory, told->asked, true);
    add(samples::kMemoryAllocated, told->allocated, false);
    add(samples::kMemoryReserved, told->reserved, false);
    note(recording.sources.front(),
        "It ends out of memory" + (told->rank >= 0 ? " on rank " + std::to_string(told->rank) : std::string()));
}

Recording GrowingLog::news()
{
    Recording recording;
    give(recording);
    return recording;
}

Recording GrowingLog::end()
{
    for (const LogParserPtr &parser : m_parsers) {
        parser->end();
        if (m_isNamed)
            claim(*parser);
    }
    if (!m_isNamed)
        name();
    Recording recording;
    give(recording);
    recording.sources.front().isTruncated = m_isCut;
    return recording;
}

} // namespace trainyard::readers
