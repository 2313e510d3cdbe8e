// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/sweep_table.h"

#include "core/base/csv_text.h"
#include "core/base/printable.h"
#include "core/planner/sweep/line_blocks.h"
#include "core/planner/sweep/row_plans.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace trainyard {

namespace {

using RowJson = nlohmann::json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

class Descriptor {
public:
    explicit Descriptor(const std::string &path)
        : m_number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    {
    }
    ~Descriptor()
    {
        if (m_number >= 0)
            ::close(m_number);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    [[nodiscard]] int number() const { return m_number; }
    [[nodiscard]] bool isFile() const
    {
        struct stat status { };
        return m_number >= 0 && ::fstat(m_number, &status) == 0 && S_ISREG(status.st_mode);
    }

private:
    int m_number;
};

std::optional<SweepState> stateOf(std::string_view name)
{
    if (name == "feasible")
        return SweepState::Feasible;
    if (name == "infeasible")
        return SweepState::Infeasible;
    return name == "refused" ? std::optional(SweepState::Refused) : std::nullopt;
}

/// Nothing where it is neither a number nor empty.
std::optional<double> numberOf(std::string_view text)
{
    if (text.empty())
        return kNone;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? std::optional(value)
                                                                                            : std::nullopt;
}

class TableReader {
public:
    TableReader(SweepTable &table, SweepFormat format)
        : m_table(table)
        , m_format(format)
    {
    }

    /// The line of names of CSV.
    bool readNames(std::string_view line)
    {
        auto fields = csvFields(line);
        const std::size_t keys = m_table.spec.vary.size();
        if (fields && fields->back() == "sum") {
            fields->pop_back();
            m_behind = 1;
        }
        if (!fields || fields->size() < keys + 3 || fields->front() != "row" || fields->at(keys + 1) != "state"
            || fields->back() != "reason")
            return false;
        for (std::size_t i = 0; i < keys; ++i)
            if (fields->at(i + 1) != m_table.spec.vary[i].key)
                return false;
        setMetrics({ fields->begin() + std::ptrdiff_t(keys) + 2, fields->end() - 1 });
        return true;
    }

    /// What is wrong with the line, or nothing.
    std::string readRow(std::string_view line) { return m_format == SweepFormat::Csv ? readCsv(line) : readJson(line); }

private:
    void setMetrics(std::vector<std::string> names)
    {
        m_table.metrics = std::move(names);
        m_table.values.resize(m_table.metrics.size());
    }

    std::string add(std::string_view state, const std::string &reason)
    {
        const auto known = stateOf(state);
        if (!known)
            return "the state is " + shortened(std::string(state));
        m_table.states.push_back(*known);
        const auto [at, isNew] = m_reasons.try_emplace(reason, std::uint32_t(m_table.reasons.size()));
        if (isNew)
            m_table.reasons.push_back(reason);
        m_table.reasonOf.push_back(at->second);
        return {};
    }

    std::string readCsv(std::string_view line)
    {
        const auto fields = csvFields(line);
        const std::size_t keys = m_table.spec.vary.size(), metrics = m_table.metrics.size();
        if (!fields || fields->size() != keys + metrics + 3 + m_behind)
            return "it has " + std::to_string(fields ? fields->size() : 0) + " fields, not "
                + std::to_string(keys + metrics + 3 + m_behind);
        if (fields->front() != std::to_string(m_table.rows()))
            return "it is row " + shortened(fields->front()) + ", not " + std::to_string(m_table.rows());
        for (std::size_t i = 0; i < metrics; ++i) {
            const auto value = numberOf(fields->at(keys + 2 + i));
            if (!value)
                return m_table.metrics[i] + " is " + shortened(fields->at(keys + 2 + i));
            m_table.values[i].push_back(*value);
        }
        return add(fields->at(keys + 1), fields->at(keys + metrics + 2));
    }

    std::string readJson(std::string_view line)
    {
        const RowJson row = RowJson::parse(line, nullptr, false);
        if (!row.is_object() || !row.contains("state") || !row["state"].is_string())
            return "it is no object of a row";
        if (row.value("row", RowJson()) != m_table.rows())
            return "it is not row " + std::to_string(m_table.rows());
        if (m_table.metrics.empty())
            setMetrics(sweepMetricNames());
        for (std::size_t i = 0; i < m_table.metrics.size(); ++i) {
            const auto value = row.find(m_table.metrics[i]);
            const bool isThere = value != row.end() && !value->is_null();
            if (isThere && !value->is_number())
                return m_table.metrics[i] + " is no number";
            m_table.values[i].push_back(isThere ? value->get<double>() : kNone);
        }
        const auto reason = row.find("reason");
        return add(row["state"].get_ref<const std::string &>(),
            reason != row.end() && reason->is_string() ? reason->get<std::string>() : std::string());
    }

    SweepTable &m_table;
    SweepFormat m_format;
    /// columns behind the reason: a row's sum, which the first files do not have
    std::size_t m_behind = 0;
    std::map<std::string, std::uint32_t> m_reasons { { "", 0 } };
};

} // namespace

const std::vector<double> *SweepTable::metric(std::string_view name) const
{
    const auto at = std::ranges::find(metrics, name);
    return at == metrics.end() ? nullptr : &values[std::size_t(at - metrics.begin())];
}

ExpectedAll<PlanPtr> SweepTable::plan(std::size_t row) const
{
    return RowPlans(spec).plan(spec.choices(row));
}

bool isSweepFile(const std::string &path)
{
    const Descriptor file(path);
    char start[64];
    const ssize_t got = file.isFile() ? ::pread(file.number(), start, sizeof start, 0) : 0;
    return got > 0 && isSweepHead({ start, std::size_t(got) });
}

ExpectedAll<SweepTablePtr> readSweepTable(const std::string &path, const std::stop_token &stop)
{
    const auto refused = [&](ErrorCode code, std::string where, std::string what) {
        return std::unexpected(
            Errors { { code, std::move(where), std::move(what), "a file of rows that `trainyard-cli sweep` wrote" } });
    };
    const Descriptor file(path);
    if (!file.isFile())
        return refused(ErrorCode::CannotRead, path, file.number() < 0 ? std::strerror(errno) : "it is no regular file");
    LineBlocks lines(file.number());
    const auto head = lines.next();
    if (!head)
        return refused(ErrorCode::BadSyntax, path, "it has no whole first line");
    auto spec = parseSweepHead(*head, path, std::filesystem::path(path).parent_path().string());
    if (!spec)
        return std::unexpected(spec.error());
    auto table = std::make_shared<SweepTable>();
    table->path = path;
    const SweepFormat format = head->front() == '#' ? SweepFormat::Csv : SweepFormat::JsonLines;
    table->spec = std::move(*spec);
    table->reasons.emplace_back();
    TableReader reader(*table, format);
    std::size_t number = 1;
    if (format == SweepFormat::Csv) {
        const auto names = lines.next();
        ++number;
        if (names && !reader.readNames(*names))
            return refused(ErrorCode::BadSyntax, path + ":2", "these are no names of columns of this sweep");
    }
    while (const auto line = lines.next()) {
        ++number;
        if (stop.stop_requested())
            return std::unexpected(Errors { { ErrorCode::Cancelled, path, "stopped", {} } });
        if (table->rows() == std::min<std::uint64_t>(table->spec.rows(), kMostTableRows))
            return refused(ErrorCode::OutOfRange, path,
                "it has more than " + std::to_string(table->rows()) + " rows, "
                    + (table->rows() == kMostTableRows ? "too many to be shown" : "the number of its sweep"));
        if (const std::string wrong = reader.readRow(*line); !wrong.empty())
            return refused(ErrorCode::BadSyntax, path + ":" + std::to_string(number), wrong);
    }
    if (!lines.failure().empty())
        return refused(ErrorCode::CannotRead, path, lines.failure());
    return table;
}

} // namespace trainyard
