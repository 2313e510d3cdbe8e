// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of DeepSpeed: its timers ("rank=0 time (ms) | forward: 27.41 | …", each time they are printed is one more), the
// throughput timer, "step=10, skipped=0, lr=[…]", the pipeline engine's "steps: 10 loss: 2.1 iter time (s): 0.6", its
// configuration, and what its communication logger tells.
#include "core/base/units.h"
#include "core/runs/telemetry/readers/argument_dump.h"
#include "core/runs/telemetry/readers/deepspeed_comms.h"
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/sample_names.h"

#include <array>
#include <map>

namespace trainyard::readers {

namespace {

using namespace samples;

constexpr std::size_t kMostTimers = 500;

std::optional<std::int64_t> wholeBehind(std::string_view text, std::string_view key)
{
    auto rest = behind(text, key);
    return rest ? takeWhole(*rest) : std::nullopt;
}

class DeepSpeedLog : public LogParser {
public:
    DeepSpeedLog()
        : LogParser(SourceKind::DeepSpeedLog, "deepspeed")
    {
    }

    bool take(const TextLine &line) override
    {
        if (m_comms.take(line) || takeTimers(line) || takeThroughput(line) || takePipeline(line)) {
            timesFromStamps(false);
            return sure(85);
        }
        if (!takeStep(line) && !takeConfiguration(line))
            return false;
        timesFromStamps(false);
        return sure(70);
    }

protected:
    void giveMore(Recording &recording) override { m_comms.give(recording, m_told); }
    void finish() override
    {
        timesFromStamps(true);
        if (!m_prints.empty())
            note(m_told,
                "Its timers name no step: they are numbered as they are printed, those of micro-steps by micro-step");
    }

private:
    bool takeTimers(const TextLine &line)
    {
        const std::size_t at = line.text.find("time (ms) |");
        if (at == line.text.npos)
            return false;
        const std::string_view before = line.text.substr(0, at);
        if (before.find("[Rank ") == before.npos && before.find("rank=") == before.npos)
            return false; // Megatron's
        std::string_view rest = line.text.substr(at + 11);
        for (LogField field; takeField(rest, field);) {
            const auto value = leadingNumber(field.value);
            if (!value || field.key.size() > 80 || (m_prints.size() >= kMostTimers && !m_prints.contains(field.key)))
                continue;
            auto known = m_prints.find(field.key);
            if (known == m_prints.end())
                known = m_prints.emplace(std::string(field.key), 0).first;
            m_book.addStep(kTimerPrefix + known->first, "s", ++known->second, *value * 1e-3);
        }
        return true;
    }

    /// "epoch=0/micro_step=4000/global_step=500, RunningAvgSamplesPerSec=…, CurrSamplesPerSec=…, MemAllocated=…GB"
    bool takeThroughput(const TextLine &line)
    {
        const std::string_view text = line.text;
        auto current = behind(text, "CurrSamplesPerSec=");
        auto mean = behind(text, "RunningAvgSamplesPerSec=");
        if (!current && !mean)
            return false;
        const auto step = wholeBehind(text, "global_step=");
        if (!step)
            return false;
        tell(*step, line);
        if (const auto value = current ? leadingNumber(*current) : std::nullopt)
            m_book.addStep(kSamplesPerSecond, "1/s", *step, *value);
        if (const auto value = mean ? leadingNumber(*mean) : std::nullopt)
            m_book.addStep(current ? "log.RunningAvgSamplesPerSec" : kSamplesPerSecond, "1/s", *step, *value);
        addGigabytes(text, "MaxMemAllocated=", kMemoryAllocated, *step);
        addGigabytes(text, "MemAllocated=", "log.memory allocated", *step);
        return true;
    }

    void addGigabytes(std::string_view text, std::string_view key, std::string_view name, std::int64_t step)
    {
        auto rest = behind(text, key);
        const auto value = rest ? takeNumber(*rest) : std::nullopt;
        if (value && rest->starts_with("GB"))
            m_book.addStep(name, "B", step, *value * kBytesPerGiB);
    }

    /// "[Rank 0] step=10, skipped=0, lr=[0.0003], mom=[(0.9, 0.95)]"
    bool takeStep(const TextLine &line)
    {
        const auto step = wholeBehind(line.text, "step=");
        const auto skipped = wholeBehind(line.text, "skipped=");
        if (!step || !skipped)
            return false;
        tell(*step, line);
        m_book.addStep("log.skipped", "1", *step, static_cast<double>(*skipped));
        if (const auto rate = behind(line.text, "lr=["))
            if (const auto value = leadingNumber(*rate))
                m_book.addStep(kLearningRate, "1", *step, *value);
        return true;
    }

    /// "steps: 10 loss: 2.1234 iter time (s): 0.612 samples/sec: 26.144"
    bool takePipeline(const TextLine &line)
    {
        auto rest = behind(line.text, "steps: ");
        if (!rest || rest->find("iter time (s): ") == rest->npos)
            return false;
        const auto step = takeWhole(*rest);
        if (!step)
            return false;
        tell(*step, line);
        for (const std::string_view key : { "loss", "iter time (s)", "samples/sec" })
            if (const auto value = behind(*rest, std::string(key) + ": "))
                if (const auto number = leadingNumber(*value))
                    addField(key, *number, *step);
        return true;
    }

    /// "[config.py:1004:print]   train_batch_size ............. 64"
    bool takeConfiguration(const TextLine &line)
    {
        const std::size_t at = line.text.find("[config.py:");
        const std::size_t print = at == line.text.npos ? at : line.text.find(":print]", at);
        Arguments one;
        if (print == line.text.npos || line.isOpen || !takeArgument(line.text.substr(print + 7), "deepspeed.", one))
            return false;
        for (auto &[name, value] : one)
            addArgument(name, std::move(value));
        return true;
    }

    /// Several kinds of line tell of one step.
    void tell(std::int64_t step, const TextLine &line)
    {
        if (m_step != step)
            follow(step, printedAt(line, line.text), line);
    }

    DeepSpeedComms m_comms;
    std::map<std::string, std::int64_t, std::less<>> m_prints; // of each timer
};

} // namespace

LogParserPtr makeDeepSpeedParser()
{
    return std::make_unique<DeepSpeedLog>();
}

} // namespace trainyard::readers
