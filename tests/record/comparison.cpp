// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/record/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <unordered_map>

namespace trainyard::record {

namespace {

template <class... Parts> std::string text(const Parts &...parts)
{
    std::ostringstream out;
    out.precision(std::numeric_limits<double>::max_digits10);
    (out << ... << parts);
    return out.str();
}

/// Three digits, of what only has to be known roughly.
std::string roughly(double value)
{
    std::ostringstream out;
    out.precision(3);
    out << value;
    return out.str();
}

/// Visits what two maps have under each key; null where one has nothing there.
template <class Value, class Visit>
void forEachPair(const std::map<std::string, Value> &before, const std::map<std::string, Value> &after, Visit visit)
{
    for (const auto &[key, value] : before) {
        const auto other = after.find(key);
        visit(key, &value, other == after.end() ? nullptr : &other->second);
    }
    for (const auto &[key, value] : after)
        if (!before.contains(key))
            visit(key, static_cast<const Value *>(nullptr), &value);
}

/// How far a sum of nanoseconds went, a span.
double shift(std::uint64_t before, std::uint64_t after, std::uint64_t spans)
{
    return spans == 0 ? 0 : double(std::int64_t(after - before)) / double(spans);
}

std::string rowText(const RowRecord &before, const RowRecord &after)
{
    if (before.spans != after.spans)
        return text(before.spans, " spans became ", after.spans, ", the last end ", before.lastEnd, " ns became ",
            after.lastEnd, " ns");
    return text(before.spans, " spans: in the mean starts moved by ",
        roughly(shift(before.starts, after.starts, before.spans)), " ns, ends by ",
        roughly(shift(before.ends, after.ends, before.spans)), " ns; the last end ", before.lastEnd, " ns became ",
        after.lastEnd, " ns");
}

class Comparer {
public:
    Comparer(Comparison &comparison, const Tolerance &tolerance)
        : m_comparison(comparison)
        , m_tolerance(tolerance)
    {
    }

    std::vector<std::string> differences(const PlanRecord &before, const PlanRecord &after)
    {
        m_found.clear();
        if (before.plan != after.plan)
            m_found.push_back("the plan itself is another one");
        if (const auto error = before.texts.find("error/0"), other = after.texts.find("error/0");
            (error == before.texts.end()) != (other == after.texts.end())) { // all else follows
            m_found.push_back(error == before.texts.end() ? text("error: an answer became \"", other->second, "\"")
                                                          : text("error: \"", error->second, "\" became an answer"));
            return std::move(m_found);
        }
        forEachPair(before.texts, after.texts, [&](const std::string &key, const std::string *a, const std::string *b) {
            if (!a || !b || *a != *b)
                m_found.push_back(text(key, ": \"", a ? *a : "nothing", "\" became \"", b ? *b : "nothing", "\""));
        });
        forEachPair(before.figures, after.figures, [&](const std::string &key, const double *a, const double *b) {
            ++m_comparison.figures;
            if (!a || !b)
                m_found.push_back(text(key, ": ", a ? *a : *b, a ? " is gone" : " is new"));
            else if (!m_tolerance.holds(*a, *b))
                m_found.push_back(text(key, ": ", *a, " became ", *b, ", by ", roughly(*a == 0 ? *b : *b / *a - 1)));
        });
        forEachPair(before.rows, after.rows,
            [&](const std::string &key, const RowRecord *a, const RowRecord *b) { compareRows(key, a, b); });
        forEachPair(before.curves, after.curves,
            [&](const std::string &key, const CurveRecord *a, const CurveRecord *b) { compareCurves(key, a, b); });
        m_comparison.otherOrders += before.order != after.order && before.rows == after.rows;
        return std::move(m_found);
    }

private:
    void compareRows(const std::string &key, const RowRecord *a, const RowRecord *b)
    {
        ++m_comparison.rows;
        m_comparison.spans += a ? a->spans : 0;
        if (!a || !b)
            m_found.push_back(text("row ", key, ": ", (a ? a : b)->spans, " spans are ", a ? "gone" : "new"));
        else if (a->hash != b->hash || a->spans != b->spans)
            m_found.push_back(text("row ", key, ": ", rowText(*a, *b)));
        else if (!m_tolerance.holds(a->moved, b->moved))
            m_found.push_back(text("row ", key, ": what its spans moved, ", a->moved, ", became ", b->moved));
        else if (a->origins != b->origins)
            m_found.push_back(text("row ", key, ": its ", a->spans, " transfers carry what other spans made"));
        else if (a->causes != b->causes && !m_tolerance.ofCauses)
            m_found.push_back(text("row ", key, ": other spans set the starts of some of its ", a->spans));
        else
            m_comparison.otherCauses += a->causes != b->causes;
    }

    void compareCurves(const std::string &key, const CurveRecord *a, const CurveRecord *b)
    {
        ++m_comparison.curves;
        if (!a || !b) {
            m_found.push_back(
                text("memory of ", key, ": a curve of ", (a ? a : b)->points, " points is ", a ? "gone" : "new"));
        } else if (a->points != b->points || a->times != b->times) {
            m_found.push_back(text("memory of ", key, ": ", a->points, " points became ", b->points,
                " at other times; the largest, ", a->figures[0], " bytes, became ", b->figures[0]));
        } else if (!std::ranges::equal(
                       a->figures, b->figures, [&](double x, double y) { return m_tolerance.holds(x, y); })) {
            m_found.push_back(text("memory of ", key, ": other bytes at the same ", a->points, " points, by ",
                roughly(b->figures[1] / a->figures[1] - 1), " in the weighted mean; the largest, ", a->figures[0],
                " bytes, became ", b->figures[0]));
        } else if (a->bytes != b->bytes) {
            ++m_comparison.roundedCurves;
        }
    }

    Comparison &m_comparison;
    const Tolerance &m_tolerance;
    std::vector<std::string> m_found;
};

/// What a difference is about, without numbers: "memory/per_stage/#/peak_bytes".
std::string kindOf(const std::string &difference)
{
    std::string kind;
    for (const char c : difference.substr(0, difference.find(':'))) {
        if (c < '0' || c > '9')
            kind += c;
        else if (kind.empty() || kind.back() != '#')
            kind += '#';
    }
    return kind;
}

} // namespace

bool Tolerance::holds(double before, double after) const
{
    if (before == after || (std::isnan(before) && std::isnan(after)))
        return true;
    return std::abs(before - after) <= absolute + relative * std::max(std::abs(before), std::abs(after));
}

Comparison compared(const Record &before, const Record &after, const Tolerance &tolerance)
{
    Comparison comparison;
    Comparer comparer(comparison, tolerance);
    std::unordered_map<std::string_view, const PlanRecord *> others;
    for (const PlanRecord &plan : after)
        others[plan.name] = &plan;
    std::set<std::string_view> met;
    for (const PlanRecord &plan : before) {
        const auto other = others.find(plan.name);
        if (other == others.end()) {
            comparison.missing.push_back(plan.name);
            continue;
        }
        ++comparison.compared;
        met.insert(plan.name);
        if (std::vector<std::string> what = comparer.differences(plan, *other->second); !what.empty())
            comparison.plans.push_back({ plan.name, std::move(what) });
    }
    for (const PlanRecord &plan : after)
        if (!met.contains(plan.name))
            comparison.added.push_back(plan.name);
    return comparison;
}

void writeComparison(std::ostream &out, const Comparison &comparison, std::size_t plans, std::size_t perPlan)
{
    std::map<std::string, std::size_t> kinds;
    for (const PlanDifference &plan : comparison.plans) {
        std::set<std::string> ofPlan;
        for (const std::string &what : plan.what)
            ofPlan.insert(kindOf(what));
        for (const std::string &kind : ofPlan)
            ++kinds[kind];
    }
    for (std::size_t p = 0; p < std::min(plans, comparison.plans.size()); ++p) {
        const PlanDifference &plan = comparison.plans[p];
        out << plan.name << '\n';
        for (std::size_t w = 0; w < std::min(perPlan, plan.what.size()); ++w)
            out << "    " << plan.what[w] << '\n';
        if (plan.what.size() > perPlan)
            out << "    and " << plan.what.size() - perPlan << " more\n";
    }
    if (comparison.plans.size() > plans)
        out << "… and " << comparison.plans.size() - plans << " more plans\n";
    if (!kinds.empty())
        out << "\nplans in which it differs:\n";
    for (const auto &[kind, count] : kinds)
        out << count << "  " << kind << '\n';
    for (const auto &[names, where] :
        { std::pair { &comparison.missing, "first" }, std::pair { &comparison.added, "second" } })
        if (!names->empty())
            out << names->size() << " plans are in the " << where << " record alone, the first is " << names->front()
                << '\n';
    out << comparison.compared << " plans compared (" << comparison.figures << " figures, " << comparison.rows
        << " rows of " << comparison.spans << " spans, " << comparison.curves << " memory curves): ";
    out << (comparison.plans.empty() ? "no difference" : text(comparison.plans.size(), " differ"));
    if (comparison.roundedCurves > 0)
        out << "; " << comparison.roundedCurves << " curves differ by rounded bytes";
    if (comparison.otherCauses > 0)
        out << "; in " << comparison.otherCauses << " rows other spans set starts (--causes names them)";
    if (comparison.otherOrders > 0)
        out << "; the rows of " << comparison.otherOrders << " plans come in another order";
    out << '\n';
}

} // namespace trainyard::record
