// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/megatron_memory.h"

#include "core/base/units.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

struct Report {
    std::int64_t step = 0;
    int rank = -1;
    double unit = 1;
    std::string_view fields;
};

/// "(after 20 iterations) memory (MB) |" at `at`; what follows it is `fields`.
bool reportAt(std::string_view text, std::size_t at, Report &report)
{
    std::string_view rest = text.substr(at + 7); // "(after "
    const auto step = takeWhole(rest);
    if (!step || !takeText(rest, " iteration"))
        return false;
    takeText(rest, "s");
    if (!takeText(rest, ") memory ("))
        return false;
    report.unit = takeText(rest, "MB") ? kBytesPerMiB
        : takeText(rest, "GB")         ? kBytesPerMiB * 1024
        : takeText(rest, "KB")         ? 1024
                                       : 0;
    if (report.unit == 0 || !takeText(rest, ")"))
        return false;
    report.step = *step;
    report.fields = rest;
    const std::string_view before = text.substr(at < 20 ? 0 : at - 20, std::min<std::size_t>(at, 20));
    report.rank = -1;
    if (const std::size_t bracket = before.rfind("[Rank "); bracket != before.npos) {
        std::string_view number = before.substr(bracket + 6);
        if (const auto rank = takeWhole(number); rank && number.starts_with(']'))
            report.rank = boundedInt(*rank);
    }
    return true;
}

/// "mem-max-allocated-gigabytes" of Megatron-Bridge is "max allocated".
std::string memoryKey(std::string_view key)
{
    std::string result = lowered(key);
    std::ranges::replace(result, '-', ' ');
    if (result.starts_with("mem "))
        result.erase(0, 4);
    for (const std::string_view unit : { " gigabytes", " megabytes", " bytes" })
        if (result.ends_with(unit))
            result.resize(result.size() - unit.size());
    return result;
}

} // namespace

bool MegatronMemory::take(const TextLine &line)
{
    return takeReports(line) || takeTheory(line);
}

bool MegatronMemory::takeReports(const TextLine &line)
{
    bool isTaken = false;
    const std::string_view text = line.text;
    for (std::size_t at = text.find("(after "); at != text.npos;) {
        const std::size_t next = text.find("(after ", at + 1);
        Report report;
        if (reportAt(text.substr(0, next), at, report)) {
            isTaken = true;
            m_step = report.step;
            for (LogField field; takeField(report.fields, field);) {
                const auto value = leadingNumber(field.value);
                if (!value || field.key.size() > 60)
                    continue;
                const std::string key = memoryKey(field.key);
                if (key == "max allocated")
                    m_book.addStep(samples::kMemoryAllocated, "B", report.step, *value * report.unit, report.rank);
                else if (key == "max reserved")
                    m_book.addStep(samples::kMemoryReserved, "B", report.step, *value * report.unit, report.rank);
                else if (key == "total device memory used")
                    m_book.addStep(samples::kMemoryUsed, "B", report.step, *value * report.unit, report.rank);
                else if (key == "allocated" || key == "reserved")
                    m_book.addStep("log.memory " + key, "B", report.step, *value * report.unit, report.rank);
                else
                    m_book.addStep("log.memory " + key, "1", report.step, *value, report.rank);
            }
        }
        at = next;
    }
    return isTaken;
}

bool MegatronMemory::takeTheory(const TextLine &line)
{
    const std::string_view text = line.text;
    if (text.find("heoretical memory") != text.npos) {
        static constexpr std::array<std::string_view, 3> kParts { "weight and optimizer", "activation", "total" };
        for (const std::string_view part : kParts)
            if (auto rest = behind(text, std::string(part) + "="))
                if (const auto bytes = takeBytes(*rest))
                    m_book.addStep("log.theoretical " + std::string(part), "B", 0, *bytes);
        note(m_told, "Megatron's own estimate: " + std::string(trimmed(text).substr(0, 300)));
        return true;
    }
    const std::size_t colon = text.rfind(": ");
    if (colon == text.npos)
        return false;
    std::string_view value = text.substr(colon + 2);
    if (const std::size_t billions = text.find(" in billions: "); billions != text.npos) {
        const std::size_t start = std::min(text.find("umber of "), text.find("otal number of "));
        const auto number = leadingNumber(text.substr(billions + 14));
        if (start == text.npos || start >= billions || !number)
            return false;
        const std::string_view what = text.substr(start > 0 ? start - 1 : 0, billions - (start > 0 ? start - 1 : 0));
        m_book.addStep("log." + std::string(what.substr(0, 100)), "1", 0, *number * 1e9);
        return true;
    }
    if (text.find("Activation memory footprint per transformer layer") != text.npos) {
        const auto bytes = takeBytes(value);
        if (bytes)
            m_book.addStep("log.Activation memory footprint per transformer layer", "B", 0, *bytes);
        if (bytes && text.find("without SP") != text.npos)
            m_book.addStep("log.Activation memory without sequence parallelism", "1", 0, 1);
        return bytes.has_value();
    }
    if (text.find("Memory penalty from interleaved schedule") != text.npos) {
        const auto number = leadingNumber(value);
        if (number)
            m_book.addStep("log.Memory penalty from interleaved schedule", "1", 0, *number);
        return number.has_value();
    }
    if (text.find("Number of in-flight microbatches") != text.npos) {
        const auto number = leadingNumber(value);
        if (number)
            m_book.addStep("log.Number of in-flight microbatches", "1", 0, *number);
        return number.has_value();
    }
    return false;
}

} // namespace trainyard::readers
