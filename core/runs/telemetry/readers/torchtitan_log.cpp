// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of torchtitan: "step:  4  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050  …". Every
// rank that is asked for prints them; one is kept. tps (wps before 2025) is of one device.
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/sample_names.h"

#include <array>

namespace trainyard::readers {

namespace {

using namespace samples;

class TorchtitanLog : public LogParser {
public:
    TorchtitanLog()
        : LogParser(SourceKind::TorchtitanLog, "torchtitan")
    {
    }

    bool take(const TextLine &line) override
    {
        const std::string_view text = line.text;
        const std::size_t at = text.find("step:");
        if (at == text.npos || text.find("loss:", at) == text.npos)
            return false;
        std::string_view rest = trimmedStart(text.substr(at + 5));
        const auto step = takeWhole(rest);
        if (!step || !(behind(rest, "tps:") || behind(rest, "wps:") || behind(rest, "memory:")))
            return false;
        sure(95);
        const bool isValidation = text.substr(0, at).ends_with("validate ");
        if (isValidation) {
            addNumber(rest, "loss:", "log.validate loss", "1", *step);
            addNumber(rest, "tps:", "log.validate tps", "1/s", *step);
            return true;
        }
        if (!isRepeated(*step, printedAt(line, text.substr(0, at)), line))
            record(rest, *step);
        timesFromStamps(false);
        return true;
    }

protected:
    void finish() override { timesFromStamps(true); }

private:
    void record(std::string_view rest, std::int64_t step)
    {
        addNumber(rest, "loss:", kLoss, "1", step);
        addNumber(rest, "global_max_loss:", "log.global_max_loss", "1", step);
        addNumber(rest, "grad_norm:", kGradNorm, "1", step);
        addNumber(rest, "lr:", kLearningRate, "1", step);
        addNumber(rest, "tps:", kTokensPerSecondPerGpu, "1/s", step);
        addNumber(rest, "wps:", kTokensPerSecondPerGpu, "1/s", step);
        addNumber(rest, "tflops:", kTflopsPerGpu, "TFLOP/s", step);
        if (auto mfu = behind(rest, "mfu:"))
            if (const auto percent = takeNumber(*mfu); percent && mfu->starts_with('%'))
                m_book.addStep(kMfu, "1", step, *percent / 100);
        if (auto memory = behind(rest, "memory:")) {
            if (const auto bytes = takeBytes(*memory))
                m_book.addStep(kMemoryReserved, "B", step, *bytes); // torchtitan prints max_reserved
            if (takeText(*memory, "("))
                if (const auto percent = takeNumber(*memory); percent && memory->starts_with('%'))
                    m_book.addStep("log.memory share", "1", step, *percent / 100);
        }
    }

    void addNumber(
        std::string_view rest, std::string_view key, std::string_view name, const char *unit, std::int64_t step)
    {
        if (const auto value = behind(rest, key))
            if (const auto number = leadingNumber(*value))
                m_book.addStep(name, unit, step, *number);
    }
};

} // namespace

LogParserPtr makeTorchtitanParser()
{
    return std::make_unique<TorchtitanLog>();
}

} // namespace trainyard::readers
