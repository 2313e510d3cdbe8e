// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of a log that no other reader knows, by the pattern of the user (line_pattern.h). The pattern stays with the
// run, as a note of its file and among its arguments ("line_pattern").
#include "core/base/printable.h"
#include "core/runs/telemetry/line_pattern.h"
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr std::size_t kFront = 64; // of a line, where its time stamp may stand

class PatternLines : public LogParser {
public:
    explicit PatternLines(std::shared_ptr<const LinePattern> pattern)
        : LogParser(SourceKind::StepLog, "pattern")
        , m_pattern(std::move(pattern))
    {
    }

    bool take(const TextLine &line) override
    {
        const std::vector<LinePattern::Value> values = m_pattern->valuesOf(line.text);
        if (values.empty())
            return false;
        if (!sureness())
            begin();
        sure(100);
        const auto step = std::ranges::find(values, LineGroup::Step, &LinePattern::Value::group);
        const std::int64_t number = step != values.end() && std::abs(step->value) < 1e15
            ? std::int64_t(step->value)
            : m_step.value_or(0) + (step == values.end() ? 1 : 0);
        if (isRepeated(number, printedAt(line, line.text.substr(0, kFront)), line))
            return true;
        for (const LinePattern::Value &value : values)
            add(value, number);
        timesFromStamps(false);
        return true;
    }

protected:
    void finish() override { timesFromStamps(true); }

private:
    void begin()
    {
        note(m_told, "Its lines are read by the line pattern " + shortened(m_pattern->text(), 300));
        addArgument("line_pattern", m_pattern->text());
    }

    void add(const LinePattern::Value &value, std::int64_t step)
    {
        switch (value.group) {
        case LineGroup::Step:
            break;
        case LineGroup::Time:
            addField("step time", value.value, step);
            break;
        case LineGroup::Tokens:
            m_book.addStep("log.tokens per second", "1/s", step, value.value);
            break;
        case LineGroup::TokensPerGpu:
            m_book.addStep(samples::kTokensPerSecondPerGpu, "1/s", step, value.value);
            break;
        case LineGroup::Loss:
            m_book.addStep(samples::kLoss, "1", step, value.value);
            break;
        case LineGroup::Memory:
            m_book.addStep(samples::kMemoryAllocated, "B", step, value.value);
            break;
        }
    }

    std::shared_ptr<const LinePattern> m_pattern;
};

} // namespace

LogParserPtr makePatternParser(std::shared_ptr<const LinePattern> pattern)
{
    return std::make_unique<PatternLines>(std::move(pattern));
}

} // namespace trainyard::readers
