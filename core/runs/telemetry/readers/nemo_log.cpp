// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of NeMo 2 ("Training epoch 0, iteration 1/19 | lr: 2.999e-07 | global_step: 1 | train_step_timing in s: 7.549")
// and the progress bars of NeMo 1 and Lightning ("Epoch 0:  50%|###| 10/20 [00:01<00:01, v_num=0, train_loss=2.3]").
// The order of fields varies.
#include "core/runs/telemetry/readers/log_parser.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/sample_names.h"

namespace trainyard::readers {

namespace {

class NemoLog : public LogParser {
public:
    NemoLog()
        : LogParser(SourceKind::NemoLog, "nemo")
    {
    }

    bool take(const TextLine &line) override
    {
        const bool isTaken = takeTraining(line) || takeBar(line);
        if (isTaken)
            timesFromStamps(false);
        return isTaken;
    }

protected:
    void finish() override
    {
        timesFromStamps(true);
        drop(m_told, "lines that several ranks print of one step", m_repeats);
        drop(m_told, "progress bars that repeat a step", m_bars);
    }

private:
    bool takeTraining(const TextLine &line)
    {
        const std::size_t at = line.text.find("raining epoch "); // its T is lost where a launcher cut the line
        if (at == line.text.npos)
            return false;
        std::string_view rest = line.text.substr(at + 14);
        if (!takeWhole(rest) || !takeText(rest, ", iteration "))
            return false;
        auto step = takeWhole(rest);
        if (!step)
            return false;
        if (const auto global = behind(rest, "global_step: "))
            if (const auto number = leadingNumber(*global); number && *number >= 0 && *number < 1e15)
                step = static_cast<std::int64_t>(*number);
        sure(95);
        if (m_process && *m_process != line.process) {
            ++m_repeats;
            return true;
        }
        m_process = line.process;
        if (follow(*step, printedAt(line, line.text), line) == Progress::Repeated)
            ++m_repeats;
        for (LogField field; takeField(rest, field);)
            if (const auto value = leadingNumber(field.value);
                value && field.key != "global_step" && field.key.size() <= 80)
                addField(field.key, *value, *step);
        return true;
    }

    /// What stands in the brackets of the bar. The step is global_step where that is told.
    bool takeBar(const TextLine &line)
    {
        const std::string_view text = line.text;
        const std::size_t epoch = text.find("Epoch ");
        const std::size_t bracket = epoch == text.npos ? text.npos : text.find(" [", epoch);
        if (bracket == text.npos
            || (text.find("it/s", bracket) == text.npos && text.find("s/it", bracket) == text.npos))
            return false;
        std::string_view epochNumber = text.substr(epoch + 6), count = text.substr(0, bracket);
        count = count.substr(count.find_last_of(' ') + 1);
        const auto passed = takeWhole(epochNumber);
        auto step = takeWhole(count);
        if (!step || !takeText(count, "/"))
            return false;
        if (const auto total = takeWhole(count); total && passed && *total < 1'000'000'000 && *passed < 1'000'000)
            *step += *passed * *total;
        std::string_view rest = text.substr(bracket + 2);
        if (const auto global = behind(rest, "global_step="))
            if (const auto number = leadingNumber(*global); number && *number >= 0 && *number < 1e15)
                step = static_cast<std::int64_t>(*number);
        if (rest.find('=') == rest.npos)
            return true;
        sure(rest.find("reduced_train_loss=") != rest.npos ? 94 : rest.find("v_num=") != rest.npos ? 80 : 40);
        if (m_bar == *step) {
            ++m_bars;
            return true;
        }
        m_bar = *step;
        follow(*step, printedAt(line, text.substr(0, epoch)), line);
        while (!rest.empty()) {
            const std::size_t comma = rest.find_first_of(",]");
            const std::string_view piece = rest.substr(0, comma);
            const bool isClosed = comma != rest.npos;
            rest = isClosed ? rest.substr(comma + 1) : std::string_view();
            const std::size_t sign = piece.find('=');
            const std::string_view key = trimmed(piece.substr(0, std::min(sign, piece.size())));
            if (sign == piece.npos || key == "v_num" || key == "global_step" || key.size() > 80 || !isClosed)
                continue;
            if (const auto value = leadingNumber(piece.substr(sign + 1)))
                addField(key, *value, *step);
        }
        return true;
    }

    std::optional<int> m_process;
    std::optional<std::int64_t> m_bar;
    std::int64_t m_repeats = 0, m_bars = 0;
};

} // namespace

LogParserPtr makeNemoParser()
{
    return std::make_unique<NemoLog>();
}

} // namespace trainyard::readers
