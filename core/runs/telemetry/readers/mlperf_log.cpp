// SPDX-License-Identifier: GPL-3.0-or-later
// Records of MLPerf ":::MLLOG {…}", which stand anywhere in a noisy log, from every process. Steps are counted in
// samples by those who train language models, in steps by others; whether the first ones fit the global batch decides,
// and they are held back for it. The unit of "throughput" changes from round to round: samples or tokens a second, told
// apart by the step time.
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

namespace trainyard::readers {

namespace {

using namespace samples;

constexpr std::string_view kMark = ":::MLLOG";
constexpr std::size_t kMostHeld = 100'000, kMostRecordedArguments = 1000;
constexpr std::size_t kStepsToTell = 8; // what steps count
constexpr std::size_t kTimes = 127, kTimesToTell = 3; // step times that are kept; that tell what throughput counts
constexpr double kMostTime = 7.2e12; // ms, in 2198

class MlperfLog : public LogParser {
public:
    MlperfLog()
        : LogParser(SourceKind::MlperfLog, "mlperf")
    {
    }

    bool take(const TextLine &line) override
    {
        bool isTaken = false;
        for (std::size_t at = line.text.find(kMark); at != line.text.npos;) {
            isTaken = true;
            const std::size_t start = at + kMark.size();
            at = line.text.find(kMark, start);
            const std::string_view text = trimmedStart(line.text.substr(start, at - start));
            LooseJson json;
            if (!json.read(text) || !json.root().isObject() || json.isTruncated() || json.isBroken())
                drop(m_told, "records that are no JSON");
            else if (sure(97))
                record(json.root());
        }
        if (isTaken)
            release(false);
        return isTaken;
    }

protected:
    void finish() override
    {
        release(true);
        if (m_runStart && m_runStop && *m_runStop > *m_runStart) {
            const double seconds = static_cast<double>(*m_runStop - *m_runStart) * 1e-9;
            m_book.addStep("log.run time", "s", 0, seconds);
            note(m_told, "From run_start to run_stop it took " + std::to_string(std::llround(seconds)) + " s");
        }
        drop(m_told, "records that other processes repeat", m_repeats);
    }

private:
    struct Stat {
        std::string key; // of a tracked value, or "eval_accuracy"
        double step = 0, value = 0;
        Moment at = 0;
    };

    /// Gives what was held back, once it is known what steps count.
    void release(bool isLast)
    {
        const double batch = argument("global_batch_size");
        if (!m_perStep && !m_stats.empty()
            && (isLast || m_steps.size() >= kStepsToTell || m_stats.size() >= kMostHeld)) {
            const bool isBySamples = batch > 1
                && std::ranges::all_of(m_stats, [&](const Stat &stat) { return std::fmod(stat.step, batch) == 0; });
            if (isBySamples)
                note(m_told, "Its records count samples: they are divided by the global batch to steps");
            m_perStep = isBySamples ? batch : 1;
        }
        if (m_perStep) {
            std::ranges::stable_sort(m_stats, {}, &Stat::at);
            addMoments(*m_perStep);
            for (const Stat &stat : m_stats)
                add(stat, static_cast<std::int64_t>(std::llround(stat.step / *m_perStep)));
            m_stats.clear();
        }
        if (!m_throughput.empty() && (isLast || m_times.size() >= kTimesToTell || m_throughput.size() >= kMostHeld)) {
            addThroughput(batch);
            m_throughput.clear();
        }
    }

    [[nodiscard]] double argument(const char *name) const
    {
        const auto known = m_arguments.find(name);
        return known != m_arguments.end() ? leadingNumber(known->second).value_or(0) : 0;
    }

    void record(LooseJsonValue value)
    {
        const LooseJsonValue own = value["value"], time = value["time_ms"], facts = value["metadata"];
        const std::string key = value["key"].text();
        if (key.empty() || !own)
            return drop(m_told, "records without key and value");
        const double told = time.isNumber() ? time.numberOr(0) : 0, ms = told > 0 && told < kMostTime ? told : 0;
        const Moment at = static_cast<Moment>(ms) * 1'000'000;
        double step = -1;
        for (const char *name : { "step", "step_num", "samples_count", "iteration" })
            if (const LooseJsonValue count = facts[name]; step < 0 && count.isNumber())
                step = count.numberOr(-1) >= 0 && count.numberOr(-1) < 1e15 ? count.numberOr(-1) : -1;
        if (key == "run_start")
            m_runStart = m_runStart ? std::min(*m_runStart, at) : at;
        else if (key == "run_stop")
            m_runStop = m_runStop ? std::max(*m_runStop, at) : at;
        if (own.isObject() && step >= 0) {
            for (const LooseJsonValue one : own)
                stat(one.name(), one, step, at);
        } else if (step >= 0 && own.isNumber()) {
            stat(key, own, step, at);
        } else if (!own.isNull() && !own.isObject()) {
            if (m_arguments.size() < kMostRecordedArguments && key.size() < 200) {
                const auto [known, isNew] = m_arguments.try_emplace(key, own.shown().substr(0, 4000));
                m_repeats += isNew ? 0 : 1;
                if (isNew)
                    addArgument(known->first, known->second);
            }
        }
    }

    void stat(const std::string &key, LooseJsonValue value, double step, Moment at)
    {
        const auto number = value.finiteNumber();
        if (key.size() > 120 || !number)
            return drop(m_told, "values that are no numbers");
        m_hasTimes = m_hasTimes || key == "train_step_time";
        if (!m_perStep && step > 0)
            m_steps.insert(step);
        m_stats.push_back({ key, step, *number, at });
    }

    void add(const Stat &stat, std::int64_t step)
    {
        tellStep(step);
        if (stat.key == "throughput") {
            m_throughput.push_back({ stat.key, static_cast<double>(step), stat.value, stat.at });
            return;
        }
        const MetricName metric = metricNamed(stat.key);
        m_book.addStep(metric.name, metric.unit, step, stat.value * metric.factor);
        if (metric.name == kStepTime)
            keepTime(stat.value * metric.factor);
    }

    void keepTime(double seconds)
    {
        if (!(seconds > 0))
            return;
        m_times.push_back(seconds);
        if (m_times.size() > kTimes)
            m_times.pop_front();
    }

    /// When steps ended; their times too where no record tells them.
    void addMoments(double perStep)
    {
        for (const Stat &stat : m_stats) {
            if (stat.at == 0 || stat.key.starts_with("eval") || stat.key.starts_with("validation")
                || (m_last && stat.step <= m_last->step))
                continue;
            m_book.addMoment(kStepEnded, "1", stat.at, stat.step / perStep);
            if (m_last && !m_hasTimes && stat.at > m_last->at) {
                const double seconds =
                    static_cast<double>(stat.at - m_last->at) * 1e-9 * perStep / (stat.step - m_last->step);
                m_book.addStep(kStepTime, "s", static_cast<std::int64_t>(std::llround(stat.step / perStep)), seconds);
                keepTime(seconds);
                note(m_told, "Its records hold no step times: they are the differences of their moments");
            }
            m_last = stat;
        }
    }

    void addThroughput(double batch)
    {
        double samplesPerSecond = 0;
        if (!m_times.empty() && batch > 0) {
            std::vector<double> sorted(m_times.begin(), m_times.end());
            std::ranges::nth_element(sorted, sorted.begin() + std::ssize(sorted) / 2);
            samplesPerSecond = batch / sorted[sorted.size() / 2];
        }
        const double length = std::max(argument("max_sequence_length"), argument("sequence_length"));
        for (const Stat &stat : m_throughput) {
            const auto step = static_cast<std::int64_t>(stat.step);
            const double ratio = samplesPerSecond > 0 ? stat.value / samplesPerSecond : 0;
            if (ratio > 0.5 && ratio < 2) {
                m_book.addStep(kSamplesPerSecond, "1/s", step, stat.value);
            } else if (length > 4 && ratio / length > 0.5 && ratio / length < 2) {
                m_book.addStep(kSamplesPerSecond, "1/s", step, stat.value / length);
                note(m_told, "Its throughput is in tokens: it is divided by the length of the sequences");
            } else {
                m_book.addStep("log.throughput", "1/s", step, stat.value);
                note(m_told, "Whether its throughput counts samples or tokens cannot be told");
            }
        }
    }

    std::map<std::string, std::string> m_arguments;
    std::vector<Stat> m_stats, m_throughput; // held back
    std::set<double> m_steps; // of those, until it is known what steps count
    std::optional<double> m_perStep; // what a step counts
    std::optional<Stat> m_last; // whose moment was given
    std::deque<double> m_times; // of steps, the latest
    bool m_hasTimes = false; // records tell step times
    std::optional<Moment> m_runStart, m_runStop;
    std::int64_t m_repeats = 0;
};

} // namespace

LogParserPtr makeMlperfParser()
{
    return std::make_unique<MlperfLog>();
}

} // namespace trainyard::readers
