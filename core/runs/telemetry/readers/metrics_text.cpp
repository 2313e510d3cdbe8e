// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/metrics_text.h"

#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/readers/collective_names.h"
#include "core/runs/telemetry/readers/exporter_metrics.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace trainyard::readers {

namespace {

struct ExposedSample {
    std::string metric;
    MetricLabels labels;
    double value = 0;
    std::string_view time; // as written; may be empty
};

bool isNameByte(char byte, bool isFirst)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == ':'
        || (!isFirst && ((byte >= '0' && byte <= '9') || byte == '.'));
}

/// Goes over one line of a sample.
class SampleLine {
public:
    explicit SampleLine(std::string_view line)
        : m_line(line)
    {
    }

    std::optional<ExposedSample> read()
    {
        ExposedSample sample;
        skipBlanks();
        sample.metric = name();
        skipBlanks();
        if (peek() == '{' && !readLabels(sample))
            return std::nullopt;
        if (sample.metric.empty())
            return std::nullopt;
        const auto value = numberIn(word());
        if (!value)
            return std::nullopt;
        sample.value = *value;
        skipBlanks();
        if (peek() != '#') // an exemplar
            sample.time = word();
        skipBlanks();
        if ((!sample.time.empty() && !numberIn(sample.time)) || (m_at < m_line.size() && peek() != '#'))
            return std::nullopt;
        return sample;
    }

private:
    [[nodiscard]] char peek() const { return m_at < m_line.size() ? m_line[m_at] : '\0'; }

    void skipBlanks()
    {
        while (peek() == ' ' || peek() == '\t')
            ++m_at;
    }

    std::string name()
    {
        const std::size_t begin = m_at;
        while (m_at < m_line.size() && isNameByte(m_line[m_at], m_at == begin))
            ++m_at;
        return std::string(m_line.substr(begin, m_at - begin));
    }

    std::string_view word()
    {
        skipBlanks();
        const std::size_t begin = m_at;
        while (m_at < m_line.size() && m_line[m_at] != ' ' && m_line[m_at] != '\t')
            ++m_at;
        return m_line.substr(begin, m_at - begin);
    }

    std::optional<std::string> quoted()
    {
        std::string text;
        for (++m_at; m_at < m_line.size(); ++m_at) {
            if (m_line[m_at] == '"') {
                ++m_at;
                return text;
            }
            if (m_line[m_at] == '\\' && m_at + 1 < m_line.size())
                text += m_line[++m_at] == 'n' ? '\n' : m_line[m_at];
            else
                text += m_line[m_at];
        }
        return std::nullopt;
    }

    bool readLabels(ExposedSample &sample)
    {
        for (++m_at;; skipBlanks()) {
            skipBlanks();
            if (peek() == ',')
                ++m_at, skipBlanks();
            if (peek() == '}')
                return ++m_at, true;
            std::optional<std::string> key = peek() == '"' ? quoted() : name();
            if (!key || key->empty())
                return false;
            skipBlanks();
            if (peek() != '=') { // {"a name in UTF-8", …}
                sample.metric = *std::move(key);
                continue;
            }
            ++m_at;
            skipBlanks();
            auto value = peek() == '"' ? quoted() : std::nullopt;
            if (!value)
                return false;
            sample.labels.emplace_back(*std::move(key), *std::move(value));
        }
    }

    std::string_view m_line;
    std::size_t m_at = 0;
};

bool isOpenMetrics(std::string_view text)
{
    text = text.substr(text.size() - std::min<std::size_t>(text.size(), 4096));
    TextLines lines(text);
    bool hasEnd = false;
    for (TextLine line; lines.next(line);)
        hasEnd = hasEnd || trimmed(line.text) == "# EOF";
    return hasEnd;
}

/// NCCL Inspector's gauges are points of a benchmark too: of a range of sizes, of which the middle is taken.
void addInspectorPoint(const ExposedSample &sample, RecordingBuilder &scribe)
{
    const bool isPair = sample.metric == "nccl_p2p_bus_bandwidth_gbs";
    if ((!isPair && sample.metric != "nccl_bus_bandwidth_gbs") || !(sample.value > 0))
        return;
    BenchmarkPoint point;
    point.what = collectiveNamed(labelOf(sample.labels, isPair ? "p2p_operation" : "collective"));
    point.ranks =
        static_cast<int>(std::clamp<std::int64_t>(integerIn(labelOf(sample.labels, "nranks")).value_or(0), 0, 1 << 30));
    point.nodes = static_cast<int>(
        std::clamp<std::int64_t>(integerIn(labelOf(sample.labels, "n_nodes")).value_or(0), 0, 1 << 30));
    const std::string_view range = labelOf(sample.labels, "message_size");
    const auto dash = range.find('-');
    const auto low = leadingInteger(range);
    const auto high = dash == std::string_view::npos ? low : leadingInteger(range.substr(dash + 1));
    const auto unitAt = range.find_first_of("KMGTB");
    if (low && high && unitAt != std::string_view::npos) {
        const auto power = std::string_view("BKMGT").find(range[unitAt]);
        double unit = 1;
        for (std::size_t i = 0; i < power; ++i)
            unit *= 1000;
        point.bytes = (static_cast<double>(*low) + static_cast<double>(*high)) / 2 * unit;
    }
    point.busBytesPerSecond = sample.value * 1e9;
    const double factor = busFactor(point.what, point.ranks);
    point.bytesPerSecond = factor > 0 ? point.busBytesPerSecond / factor : 0;
    scribe.add(point);
    --scribe.source().taken; // it is counted as a sample
    scribe.note("Sizes of messages are ranges here; points of the benchmark stand at their middle");
}

/// Lines that begin with a field of DCGM and hold no sample: dcgm-exporter's table of counters, or a list of names.
bool isFieldList(std::string_view head)
{
    int fields = 0, others = 0;
    TextLines lines(head.substr(0, 65536));
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        if (text.starts_with('#'))
            continue;
        const auto words = fieldsOf(text);
        const bool isSample = text.find('{') != std::string_view::npos || (words.size() == 2 && numberIn(words[1]));
        ++(text.starts_with("DCGM_FI_") && !isSample ? fields : others);
    }
    return fields > 2 && others == 0;
}

class Exposition {
public:
    Exposition(const SourceText &source)
        : m_scribe(source, SourceKind::MetricsText)
        , m_series(m_scribe)
        , m_isOpen(isOpenMetrics(source.text))
    {
    }

    void addLine(std::string_view line)
    {
        line = trimmed(line);
        if (line.starts_with('#')) {
            const auto fields = fieldsOf(line);
            if (fields.size() > 3 && fields[1] == "TYPE" && fields[3] == "histogram")
                m_histograms.insert(std::string(fields[2]));
            return;
        }
        if (line.empty())
            return;
        const auto sample = SampleLine(line).read();
        if (!sample)
            return m_scribe.drop("lines that are no sample");
        if (sample->metric.ends_with("_bucket")
            && m_histograms.contains(sample->metric.substr(0, sample->metric.size() - 7)))
            return m_scribe.drop("buckets of histograms");
        if (m_isOpen && sample->metric.ends_with("_created"))
            return m_scribe.drop("moments at which counters were made");
        m_series.add(m_series.of(sample->metric, sample->labels), timeOf(*sample), sample->value);
        addInspectorPoint(*sample, m_scribe);
    }

    std::int64_t timeOf(const ExposedSample &sample)
    {
        if (sample.time.empty())
            return m_hasNoTimes = true, RecordingBuilder::kNoTime;
        if (m_isOpen)
            return nanosecondsIn(sample.time).value_or(RecordingBuilder::kNoTime);
        const auto milliseconds = integerIn(sample.time).value_or(-1);
        return milliseconds >= 0 && milliseconds < 9'000'000'000'000 ? milliseconds * 1'000'000
                                                                     : RecordingBuilder::kNoTime;
    }

    void end(bool isCut)
    {
        if (isCut) {
            m_scribe.source().isTruncated = true;
            m_scribe.drop("a last line that is cut");
        }
        if (m_hasNoTimes)
            m_scribe.note("Its samples carry no time, as scrapes do: they stand at the recording's first moment");
        m_series.addNetworkRates();
    }

    [[nodiscard]] RecordingBuilder &scribe() { return m_scribe; }

private:
    RecordingBuilder m_scribe;
    MetricSeries m_series;
    std::unordered_set<std::string> m_histograms;
    bool m_isOpen, m_hasNoTimes = false;
};

} // namespace

int looksLikeMetricsText(std::string_view, std::string_view head)
{
    if (isFieldList(head))
        return 60;
    int samples = 0, others = 0, types = 0;
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 60 && lines.next(line); ++seen) {
        const std::string_view text = trimmed(line.text);
        const bool isComment =
            text.starts_with("# HELP ") || text.starts_with("# TYPE ") || text.starts_with("# UNIT ");
        types += isComment;
        if (text.starts_with('#') || line.isOpen)
            continue;
        const auto sample = SampleLine(text).read();
        const bool isSample = sample && (types > 0 || text.find('{') != std::string_view::npos);
        ++(isSample ? samples : others);
    }
    if (types > 1)
        return others <= samples ? 90 : 40;
    return samples > 0 && others == 0 ? 60 : 0;
}

Expected<Recording> readMetricsText(const SourceText &source, const SourceOptions &options)
{
    if (isFieldList(source.text))
        return refusal(source, "It is a list of DCGM's fields, as dcgm-exporter is set up with, without samples");
    Exposition exposition(source);
    bool isCut = false;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        isCut = line.isOpen && trimmed(line.text) != "# EOF";
        if (!isCut)
            exposition.addLine(line.text);
    }
    exposition.end(isCut);
    if (exposition.scribe().recording().series.empty())
        return refusal(source, "It is an exposition of metrics without a single sample");
    return exposition.scribe().finish();
}

} // namespace trainyard::readers
