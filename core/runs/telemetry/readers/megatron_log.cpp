// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of Megatron-LM and of what grew from it: Megatron-Bridge, Megatron-DeepSpeed, GPT-NeoX, epfLLM.
#include "core/runs/telemetry/readers/argument_dump.h"
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/megatron_memory.h"
#include "core/runs/telemetry/readers/megatron_timers.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

using namespace samples;

/// "iteration       30/ 1000000 |" at `at`, with '=' behind the word in ALCF's fork. `end` is behind the second number.
bool iterationAt(std::string_view text, std::size_t at, std::int64_t &step, std::size_t &end)
{
    std::string_view rest = text.substr(at + 9);
    if (!takeText(rest, "="))
        takeText(rest, ":");
    rest = trimmedStart(rest);
    const auto number = takeWhole(rest);
    rest = trimmedStart(rest);
    if (!number || !takeText(rest, "/"))
        return false;
    rest = trimmedStart(rest);
    if (!takeWhole(rest))
        return false;
    rest = trimmedStart(rest);
    step = *number;
    end = text.size() - rest.size();
    return rest.starts_with('|');
}

bool isOfSpeed(std::string_view name)
{
    return name == kStepTime || name == kTflopsPerGpu || name == kSamplesPerSecond || name == kTokensPerSecondPerGpu
        || name == kPower || name == kEnergyPerStep || name.starts_with("log.[DS]");
}

class MegatronLog : public LogParser {
public:
    MegatronLog()
        : LogParser(SourceKind::MegatronLog, "megatron")
        , m_timers(m_book)
        , m_memory(m_book, m_told)
    {
    }

    bool take(const TextLine &line) override
    {
        if (takeIterations(line))
            return sure(93);
        if (!line.isOpen && m_arguments.take(line.text)) {
            m_isFresh = m_hasStarted = true;
            for (auto &[name, value] : m_arguments.takeNews())
                addArgument(name, std::move(value));
            return sure(75);
        }
        if (m_memory.take(line)) {
            if (!m_step && m_memory.step())
                m_timers.finish(*m_memory.step());
            return sure(80);
        }
        return ((m_timers.take(line) || takeUtilization(line) || takeValidation(line) || takeProgress(line))
                   && sure(80))
            || takeStart(line);
    }

protected:
    void finish() override
    {
        m_timers.finish(m_step.value_or(0));
        settleFirst();
        if (!m_held.empty()) {
            for (const Held &held : m_held)
                m_book.addStep(held.name, held.unit, held.step, held.value);
            note(m_told, "Its only step times are of first iterations, with warm-up in them");
        }
        if (m_arguments.dumps() > 1)
            note(m_told,
                "The arguments are printed " + std::to_string(m_arguments.dumps()) + " times, "
                    + std::to_string(m_arguments.changed()) + " of them with another value; the last stands");
    }

private:
    struct Held { // of an iteration with warm-up in it
        std::string name;
        const char *unit;
        std::int64_t step;
        double value;
    };

    bool takeIterations(const TextLine &line)
    {
        const std::string_view text = line.text;
        bool isTaken = false;
        for (std::size_t at = text.find("iteration"); at != text.npos;) {
            std::int64_t step = 0;
            std::size_t end = at + 9;
            if (!iterationAt(text, at, step, end)) {
                at = text.find("iteration", at + 9);
                continue;
            }
            std::size_t next = text.find("iteration", end);
            for (std::int64_t other = 0; next != text.npos; next = text.find("iteration", next + 9))
                if (std::size_t ignored = 0; iterationAt(text, next, other, ignored))
                    break;
            // GPT-NeoX has fields in front of the iteration
            record(line, step, isTaken ? std::string_view() : text.substr(0, at), text.substr(end, next - end));
            isTaken = true;
            at = next;
        }
        return isTaken;
    }

    void record(const TextLine &line, std::int64_t step, std::string_view before, std::string_view fields)
    {
        const bool wentBack = follow(step, printedAt(line, before), line) == Progress::WentBack;
        const bool isFirst = wentBack || (m_isFresh && (step == 1 || m_hasStarted));
        m_isFresh = false;
        m_firstStep = isFirst ? std::optional(step) : std::nullopt;
        m_timers.stepIs(step);
        if (const std::size_t bar = before.rfind('|'); bar != before.npos)
            addFields(before.substr(0, bar + 1), step, isFirst, line.isOpen);
        addFields(fields, step, isFirst, line.isOpen);
        if (m_utilization) {
            addValue("tflops", *m_utilization, step, isFirst);
            m_utilization.reset();
        }
        settleFirst();
    }

    /// Values with warm-up in them are of no use where there are others.
    void settleFirst()
    {
        if (m_held.empty() || !m_book.find(kStepTime))
            return;
        drop(m_told, "step times of first iterations, which have warm-up in them",
            std::ranges::count(m_held, std::string_view(kStepTime), &Held::name));
        m_held.clear();
    }

    void addFields(std::string_view fields, std::int64_t step, bool isFirst, bool isOpen)
    {
        for (LogField field; takeField(fields, field);)
            if (const auto value = leadingCount(field.value);
                value && field.key.size() <= 80 && (field.isClosed || !isOpen))
                addValue(field.key, *value, step, isFirst);
    }

    void addValue(std::string_view key, double value, std::int64_t step, bool isFirst)
    {
        const MetricName metric = metricNamed(key);
        if (isFirst && isOfSpeed(metric.name))
            m_held.push_back({ metric.name, metric.unit, step, value * metric.factor });
        else
            m_book.addStep(metric.name, metric.unit, step, value * metric.factor);
    }

    /// "Step Time : 12.34s GPU utilization: 812.3MODEL_TFLOP/s/GPU", which Megatron-Bridge prints beside the iteration.
    bool takeUtilization(const TextLine &line)
    {
        auto time = behind(line.text, "Step Time : ");
        auto rate = behind(line.text, "GPU utilization: ");
        const auto seconds = time ? takeNumber(*time) : std::nullopt;
        const auto tflops = rate ? takeNumber(*rate) : std::nullopt;
        if (!seconds || !tflops || rate->find("TFLOP/s") == rate->npos)
            return false;
        if (!m_isUtilizationBehind)
            m_isUtilizationBehind = m_step.has_value();
        if (!*m_isUtilizationBehind)
            m_utilization = *tflops;
        else if (m_step)
            addValue("tflops", *tflops, *m_step, m_firstStep == m_step);
        settleFirst();
        return true;
    }

    /// " validation loss at iteration 1000 | lm loss value: 2.1E+00 | lm loss PPL: 8.3E+00 |"
    bool takeValidation(const TextLine &line)
    {
        auto rest = behind(line.text, "loss at iteration ");
        const auto step = rest ? takeWhole(*rest) : std::nullopt;
        if (!step)
            return false;
        for (LogField field; takeField(*rest, field);)
            if (const auto value = leadingNumber(field.value); value && field.key.size() <= 80)
                m_book.addStep("log.validation " + std::string(field.key), "1", *step, *value);
        return true;
    }

    /// progress.txt: "2025-02-24 17:35:03\tJob ID: 198424\t# GPUs: 8\tSaved checkpoint\tIteration: 100\tJob throughput:
    /// …"
    bool takeProgress(const TextLine &line)
    {
        if (line.text.find("\tJob ID: ") == line.text.npos)
            return false;
        if (auto gpus = behind(line.text, "# GPUs: "))
            if (const auto count = takeWhole(*gpus))
                addWorldSize(*count);
        auto iteration = behind(line.text, "Iteration: ");
        const auto step = iteration ? takeWhole(*iteration) : std::nullopt;
        if (!step)
            return true;
        if (const auto stamp = printedAt(line, line.text))
            m_book.addMoment(kStepEnded, "1", *stamp, static_cast<double>(*step));
        if (const auto job = behind(line.text, "Job throughput: "))
            if (const auto tflops = leadingNumber(*job))
                m_book.addStep(kTflopsPerGpu, "TFLOP/s", *step, *tflops);
        if (const auto all = behind(line.text, "Cumulative throughput: "))
            if (const auto tflops = leadingNumber(*all))
                m_book.addStep("log.cumulative throughput", "TFLOP/s", *step, *tflops);
        return true;
    }

    /// What the arguments say stands above it.
    void addWorldSize(std::int64_t count)
    {
        if (!m_arguments.arguments().contains("world_size"))
            addArgument("world_size", std::to_string(count));
    }

    bool takeStart(const TextLine &line)
    {
        if (auto size = behind(line.text, "using world size: ")) {
            if (const auto count = takeWhole(*size))
                addWorldSize(*count);
            return true;
        }
        if (line.text.find("[before the start of training step]") == line.text.npos
            && line.text.find("training ...") == line.text.npos)
            return false;
        m_isFresh = m_hasStarted = true;
        return true;
    }

    MegatronTimers m_timers;
    MegatronMemory m_memory;
    ArgumentDump m_arguments;
    std::vector<Held> m_held;
    std::optional<std::int64_t> m_firstStep; // the last one, where it has warm-up in it
    std::optional<double> m_utilization;
    std::optional<bool> m_isUtilizationBehind;
    bool m_isFresh = true; // no iteration since the start
    bool m_hasStarted = false; // a line told of a start
};

} // namespace

LogParserPtr makeMegatronParser()
{
    return std::make_unique<MegatronLog>();
}

} // namespace trainyard::readers
