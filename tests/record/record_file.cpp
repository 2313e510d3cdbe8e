// SPDX-License-Identifier: GPL-3.0-or-later
// The file: one fact a line, its first character says which. Names come once, in the order of their numbers.
//
//   n NAME                                            names number 0, 1, 2 …
//   p NAME HASH ORDER                                 a plan; what follows is its own
//   t NUMBER TEXT        f NUMBER VALUE
//   r NUMBER SPANS HASH ORIGINS CAUSES STARTS ENDS LAST MOVED
//   c NUMBER POINTS TIMES BYTES FIGURES…
#include "tests/record/record.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <span>

namespace trainyard::record {

namespace {

constexpr const char *kFirstLine = "evaluation record 1";

std::string digits(double value)
{
    char text[40];
    return { text, std::to_chars(text, text + sizeof text, value).ptr };
}

std::string oneLine(std::string text)
{
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    return text;
}

std::vector<std::string_view> fieldsOf(std::string_view line)
{
    std::vector<std::string_view> fields;
    for (std::size_t from = 0;;) {
        const std::size_t to = line.find('\t', from);
        fields.push_back(line.substr(from, to == std::string_view::npos ? to : to - from));
        if (to == std::string_view::npos)
            return fields;
        from = to + 1;
    }
}

/// Reads numbers one after the other and remembers whether all of them were some.
class Numbers {
public:
    explicit Numbers(std::span<const std::string_view> fields)
        : m_fields(fields)
    {
    }
    template <class T> T next()
    {
        T value {};
        if (m_at >= m_fields.size()) {
            m_isGood = false;
            return value;
        }
        const std::string_view field = m_fields[m_at++];
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
        m_isGood = m_isGood && error == std::errc() && end == field.data() + field.size();
        return value;
    }
    [[nodiscard]] bool isGood() const { return m_isGood && m_at == m_fields.size(); }

private:
    std::span<const std::string_view> m_fields;
    std::size_t m_at = 0;
    bool m_isGood = true;
};

class Reader {
public:
    bool read(std::string_view line)
    {
        const std::vector<std::string_view> all = fieldsOf(line);
        const std::span<const std::string_view> fields(all);
        const char kind = fields.front().size() == 1 ? fields.front().front() : '?';
        if (kind == 'n' && fields.size() == 2) {
            m_names.emplace_back(fields[1]);
            return true;
        }
        if (kind == 'p' && fields.size() == 4) {
            Numbers numbers(fields.subspan(2));
            PlanRecord &plan = m_record.emplace_back();
            plan.name = fields[1];
            plan.plan = numbers.next<std::uint64_t>();
            plan.order = numbers.next<std::uint64_t>();
            return numbers.isGood();
        }
        if (m_record.empty() || fields.size() < 3)
            return false;
        Numbers number(fields.subspan(1, 1));
        const auto name = number.next<std::size_t>();
        return number.isGood() && name < m_names.size() && readFact(kind, m_names[name], fields.subspan(2));
    }
    Record take() { return std::move(m_record); }

private:
    bool readFact(char kind, const std::string &name, std::span<const std::string_view> fields)
    {
        PlanRecord &plan = m_record.back();
        Numbers numbers(fields);
        switch (kind) {
        case 't':
            return fields.size() == 1 && plan.texts.emplace(name, fields[0]).second;
        case 'f':
            plan.figures[name] = numbers.next<double>();
            break;
        case 'r': {
            RowRecord &row = plan.rows[name];
            for (std::uint64_t RowRecord::*word : { &RowRecord::spans, &RowRecord::hash, &RowRecord::origins,
                     &RowRecord::causes, &RowRecord::starts, &RowRecord::ends })
                row.*word = numbers.next<std::uint64_t>();
            row.lastEnd = numbers.next<Nanoseconds>();
            row.moved = numbers.next<double>();
            break;
        }
        case 'c': {
            CurveRecord &curve = plan.curves[name];
            for (std::uint64_t CurveRecord::*word : { &CurveRecord::points, &CurveRecord::times, &CurveRecord::bytes })
                curve.*word = numbers.next<std::uint64_t>();
            for (double &figure : curve.figures)
                figure = numbers.next<double>();
            break;
        }
        default:
            return false;
        }
        return numbers.isGood();
    }

    std::vector<std::string> m_names;
    Record m_record;
};

} // namespace

std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = mixed(kEmptyHash, text.size());
    for (const char c : text)
        hash = mixed(hash, std::uint64_t(static_cast<unsigned char>(c)));
    return hash;
}

RecordWriter::RecordWriter(std::ostream &out)
    : m_out(out)
{
    m_out << kFirstLine << '\n';
}

std::size_t RecordWriter::number(const std::string &name)
{
    const auto [found, isNew] = m_numbers.try_emplace(name, m_numbers.size());
    if (isNew)
        m_out << "n\t" << name << '\n';
    return found->second;
}

void RecordWriter::add(const PlanRecord &plan)
{
    m_out << "p\t" << plan.name << '\t' << plan.plan << '\t' << plan.order << '\n';
    const auto begin = [this](char kind, const std::string &name) {
        const std::size_t numbered = number(name); // writes a line of its own
        m_out << kind << '\t' << numbered;
    };
    for (const auto &[name, text] : plan.texts) {
        begin('t', name);
        m_out << '\t' << oneLine(text) << '\n';
    }
    for (const auto &[name, value] : plan.figures) {
        begin('f', name);
        m_out << '\t' << digits(value) << '\n';
    }
    for (const auto &[name, row] : plan.rows) {
        begin('r', name);
        m_out << '\t' << row.spans << '\t' << row.hash << '\t' << row.origins << '\t' << row.causes << '\t'
              << row.starts << '\t' << row.ends << '\t' << row.lastEnd << '\t' << digits(row.moved) << '\n';
    }
    for (const auto &[name, curve] : plan.curves) {
        begin('c', name);
        m_out << '\t' << curve.points << '\t' << curve.times << '\t' << curve.bytes;
        for (const double figure : curve.figures)
            m_out << '\t' << digits(figure);
        m_out << '\n';
    }
}

void writeRecord(std::ostream &out, const Record &record)
{
    RecordWriter writer(out);
    for (const PlanRecord &plan : record)
        writer.add(plan);
}

Expected<Record> readRecord(std::istream &in)
{
    Reader reader;
    std::string line;
    int number = 0;
    while (std::getline(in, line)) {
        if (++number == 1 ? line != kFirstLine : !reader.read(line))
            return std::unexpected(Error {
                ErrorCode::BadValue, "line " + std::to_string(number), line.substr(0, 80), "a record of evaluations" });
    }
    if (number == 0)
        return std::unexpected(Error { ErrorCode::BadValue, "line 1", "nothing", "a record of evaluations" });
    return reader.take();
}

} // namespace trainyard::record
