// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/variant_numbers.h"

#include "core/evaluation/evaluate/comparable.h"
#include "models/session/pair_tables.h"
#include "models/text/format.h"

#include <algorithm>
#include <functional>

namespace trainyard {

namespace {

const MetricRow *rowOf(const NumbersOfPlan *plan, const std::string &key)
{
    if (!plan)
        return nullptr;
    const auto found = std::ranges::find(plan->rows, key, &MetricRow::key);
    return found == plan->rows.end() || !found->value ? nullptr : &*found;
}

NumbersTable::Cell cellOf(const NumbersOfPlan *plan, const NumbersOfPlan *base, const std::string &key)
{
    const MetricRow *row = rowOf(plan, key), *other = rowOf(base, key);
    if (!row)
        return { plan ? QStringLiteral("–") : QStringLiteral("…"), Tone::Muted };
    const QString text = QString::fromStdString(valueText(*row));
    const bool isTold =
        other && plan != base && *other->value != 0 && plan->whyNotCompared.empty() && base->whyNotCompared.empty();
    if (!isTold)
        return { text, Tone::Plain };
    return { text + QStringLiteral("  ") + formatChange(*other->value, *row->value), toneOfNumbers(*other, *row) };
}

/// In the order in which the plans have them; one that only a later plan has stands behind.
std::vector<std::pair<std::string, QString>> keysOf(const std::vector<const NumbersOfPlan *> &plans)
{
    std::vector<std::pair<std::string, QString>> keys;
    for (const NumbersOfPlan *plan : plans)
        for (const MetricRow &row : plan ? plan->rows : std::vector<MetricRow>())
            if (row.value && std::ranges::find(keys, row.key, &std::pair<std::string, QString>::first) == keys.end())
                keys.emplace_back(row.key, QString::fromStdString(row.label));
    return keys;
}

} // namespace

NumbersTable numbersAgainst(const std::vector<const NumbersOfPlan *> &plans, std::size_t base)
{
    NumbersTable table;
    for (const auto &[key, label] : keysOf(plans)) {
        NumbersTable::Row row { key, label, {} };
        for (const NumbersOfPlan *plan : plans)
            row.cells.push_back(cellOf(plan, base < plans.size() ? plans[base] : nullptr, key));
        table.rows.push_back(std::move(row));
    }
    return table;
}

VariantNumbers::VariantNumbers(SessionDocument &session, const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_session(session)
    , m_catalogue(catalogue)
    , m_worker(std::bind_front(&VariantNumbers::work, this))
{
    connect(&session, &SessionDocument::changed, this, &VariantNumbers::tidy);
    tidy();
}

const NumbersOfPlan *VariantNumbers::of(const PlanPtr &plan) const
{
    const auto found = m_numbers.find(plan);
    return found == m_numbers.end() ? nullptr : &found->second;
}

/// Forgets plans that no variant has any more, and asks for one that is not known.
void VariantNumbers::tidy()
{
    const std::vector<Variant> &all = m_session.variants();
    std::erase_if(
        m_numbers, [&](const auto &one) { return std::ranges::find(all, one.first, &Variant::plan) == all.end(); });
    const auto unknown =
        std::ranges::find_if(all, [this](const Variant &one) { return !m_numbers.contains(one.plan); });
    m_worker.setPlan(unknown == all.end() ? nullptr : unknown->plan);
}

void VariantNumbers::work(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    NumbersOfPlan numbers;
    if (const auto answer = evaluate(plan, m_catalogue, workspace, stop)) {
        numbers.rows = numberRows(**answer, (*answer)->metrics.jobs.has_value());
        numbers.whyNotCompared = trainyard::whyNotCompared(**answer);
    }
    if (stop.stop_requested())
        return;
    deliver([this, plan, numbers] {
        m_numbers.insert_or_assign(plan, numbers);
        tidy();
        emit numbersChanged();
    });
}

} // namespace trainyard
