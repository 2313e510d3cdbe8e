// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sweep_results.h"

#include "core/base/pareto_front.h"
#include "core/facts/plan/key_list.h"
#include "models/text/format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kFarApart = 30; // most over least

/// "cluster.wan_links[2].rtt_ms" as the list of keys names it.
std::string withoutIndices(const std::string &key)
{
    std::string plain;
    bool isIndex = false;
    for (const char c : key) {
        isIndex = c == '[' || (isIndex && c != ']');
        if (!isIndex || c == '[')
            plain += c;
    }
    return plain;
}

QString labelOfKey(const std::string &key)
{
    const std::string path = withoutIndices(key);
    const auto row = std::ranges::find(planKeys(), path, &KeyRow::path);
    if (row == planKeys().end() || path != key)
        return QString::fromStdString(key); // one of a list says which
    const char *label = *row->key.label ? row->key.label : row->key.title; // those of titles stand below a section's
    if (*label)
        return QString::fromUtf8(label);
    QString name = QString::fromUtf8(row->key.name).replace(u'_', u' ');
    name[0] = name[0].toUpper();
    return name;
}

struct MetricWords {
    const char *key, *label;
    SweepColumn::Better better;
};
constexpr MetricWords kMetrics[] = {
    { "iteration_time_s", QT_TRANSLATE_NOOP("SweepResults", "Iteration"), SweepColumn::Better::Lower },
    { "tokens_per_s", QT_TRANSLATE_NOOP("SweepResults", "Tokens per second"), SweepColumn::Better::Higher },
    { "tokens_per_s_per_gpu", QT_TRANSLATE_NOOP("SweepResults", "Tokens per second per GPU"),
        SweepColumn::Better::Higher },
    { "model_tflops_per_gpu", QT_TRANSLATE_NOOP("SweepResults", "Model TFLOP/s per GPU"), SweepColumn::Better::Higher },
    { "mfu", QT_TRANSLATE_NOOP("SweepResults", "MFU"), SweepColumn::Better::Higher },
    { "hfu", QT_TRANSLATE_NOOP("SweepResults", "HFU"), SweepColumn::Better::Higher },
    { "gpu_utilization", QT_TRANSLATE_NOOP("SweepResults", "GPU utilization"), SweepColumn::Better::Higher },
    { "gpu_utilization_with_fill", QT_TRANSLATE_NOOP("SweepResults", "GPU utilization with prefill"),
        SweepColumn::Better::Higher },
    { "bubble_fraction", QT_TRANSLATE_NOOP("SweepResults", "Bubble"), SweepColumn::Better::Lower },
    { "gpus_used", QT_TRANSLATE_NOOP("SweepResults", "GPUs used"), SweepColumn::Better::Lower },
    { "gpus_total", QT_TRANSLATE_NOOP("SweepResults", "GPUs"), SweepColumn::Better::Lower },
    { "memory.peak_bytes", QT_TRANSLATE_NOOP("SweepResults", "Peak memory"), SweepColumn::Better::Lower },
    { "memory.device_bytes", QT_TRANSLATE_NOOP("SweepResults", "On the device"), SweepColumn::Better::Lower },
    { "memory.capacity_bytes", QT_TRANSLATE_NOOP("SweepResults", "Capacity of that GPU"),
        SweepColumn::Better::Neither },
    { "memory.fill", QT_TRANSLATE_NOOP("SweepResults", "Memory filled"), SweepColumn::Better::Lower },
    { "cost.usd_per_iteration", QT_TRANSLATE_NOOP("SweepResults", "Cost per iteration"), SweepColumn::Better::Lower },
    { "cost.usd_per_million_tokens", QT_TRANSLATE_NOOP("SweepResults", "Cost per million tokens"),
        SweepColumn::Better::Lower },
    { "cost.usd_per_hour", QT_TRANSLATE_NOOP("SweepResults", "Cost per hour"), SweepColumn::Better::Lower },
    { "cost.usd_total", QT_TRANSLATE_NOOP("SweepResults", "Cost of the training"), SweepColumn::Better::Lower },
    { "cost.days_total", QT_TRANSLATE_NOOP("SweepResults", "Days to train"), SweepColumn::Better::Lower },
    { "cost.energy_mwh_total", QT_TRANSLATE_NOOP("SweepResults", "Energy, MWh"), SweepColumn::Better::Lower },
    { "cost.co2_t_total", QT_TRANSLATE_NOOP("SweepResults", "CO₂, t"), SweepColumn::Better::Lower },
    { "wan.bytes_per_iteration", QT_TRANSLATE_NOOP("SweepResults", "Over the WAN per iteration"),
        SweepColumn::Better::Lower },
    { "bubble_fill.filled_fraction", QT_TRANSLATE_NOOP("SweepResults", "Idle time filled"),
        SweepColumn::Better::Higher },
    { "bubble_fill.prefill_tokens_per_s", QT_TRANSLATE_NOOP("SweepResults", "Prefill tokens per second"),
        SweepColumn::Better::Higher },
    { "jobs.makespan_s", QT_TRANSLATE_NOOP("SweepResults", "All jobs done after"), SweepColumn::Better::Lower },
    { "jobs.usd", QT_TRANSLATE_NOOP("SweepResults", "Price of all jobs"), SweepColumn::Better::Lower },
};

void measure(SweepColumn &column)
{
    column.least = std::numeric_limits<double>::infinity();
    column.most = -column.least;
    for (const double value : column.values) {
        if (std::isnan(value))
            continue;
        column.least = std::min(column.least, value);
        column.most = std::max(column.most, value);
    }
    if (!(column.least < column.most)) { // one value, or none
        const double middle = std::isfinite(column.least) ? column.least : 0;
        const double half = middle == 0 ? 0.5 : std::abs(middle) / 20;
        column.least = middle - half;
        column.most = middle + half;
    }
}

QString cellNumber(double value)
{
    return QString::number(value, 'g', 6).replace(u'-', QChar(0x2212));
}

SweepColumn keyColumn(const SweepAxis &varied)
{
    SweepColumn column { varied.key, labelOfKey(varied.key), true };
    for (const std::string &value : varied.values) {
        bool isNumber = false;
        QString::fromStdString(value).toDouble(&isNumber);
        if (!isNumber) {
            for (const std::string &choice : varied.values)
                column.choices << QString::fromStdString(choice);
            break;
        }
    }
    return column;
}

SweepColumn metricColumn(const std::string &name, const std::vector<double> &values)
{
    SweepColumn column { name, QString::fromStdString(name) };
    for (const MetricWords &words : kMetrics) {
        if (column.key != words.key)
            continue;
        column.label = SweepResults::tr(words.label);
        column.better = words.better;
    }
    column.values = values;
    measure(column);
    return column;
}

/// One a varied key, and one a metric that has values. Any thread.
std::vector<SweepColumn> columnsOf(const SweepTable &table)
{
    std::vector<SweepColumn> columns;
    const std::vector<SweepAxis> &vary = table.spec.vary;
    std::vector<std::vector<double>> values(vary.size()); // [axis][value]: as it is drawn
    for (std::size_t axis = 0; axis < vary.size(); ++axis) {
        columns.push_back(keyColumn(vary[axis]));
        for (std::size_t i = 0; i < vary[axis].values.size(); ++i)
            values[axis].push_back(
                columns.back().choices.isEmpty() ? QString::fromStdString(vary[axis].values[i]).toDouble() : double(i));
        columns.back().ticks = values[axis];
        std::ranges::sort(columns.back().ticks);
        columns.back().values.reserve(table.rows());
    }
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto chosen = table.spec.choices(row);
        for (std::size_t axis = 0; axis < vary.size(); ++axis)
            columns[axis].values.push_back(values[axis][chosen[axis]]);
    }
    std::ranges::for_each(columns, measure);
    for (std::size_t metric = 0; metric < table.metrics.size(); ++metric)
        if (!std::ranges::all_of(table.values[metric], [](double value) { return std::isnan(value); }))
            columns.push_back(metricColumn(table.metrics[metric], table.values[metric]));
    return columns;
}

} // namespace

QString SweepColumn::textOf(double value) const
{
    if (std::isnan(value))
        return QStringLiteral("–");
    if (!choices.isEmpty())
        return choices.value(int(std::lround(value)));
    if (isVaried)
        return cellNumber(value);
    const auto has = [&](const char *part) { return key.find(part) != std::string::npos; };
    if (has("usd"))
        return formatUsd(value);
    if (has("bytes"))
        return formatBytes(value);
    if (key.ends_with("time_s") || key.ends_with("makespan_s"))
        return formatSeconds(value);
    if (key == "mfu" || key == "hfu" || has("utilization") || has("fraction") || key == "memory.fill")
        return formatPercent(value);
    return formatCount(value);
}

bool SweepColumn::isLogarithmic() const
{
    return choices.isEmpty() && least > 0 && most / least > kFarApart;
}

SweepResults::SweepResults(QObject *parent)
    : QObject(parent)
{
}

SweepResults::~SweepResults()
{
    m_stop.request_stop();
}

void SweepResults::open(const QString &path)
{
    m_stop.request_stop(); // one file is shown at a time: the newest that was asked for
    m_stop = {};
    ++m_reading;
    using Read = ExpectedAll<std::pair<SweepTablePtr, std::vector<SweepColumn>>>;
    m_queue.run(
        this,
        [path, stop = m_stop.get_token()]() -> Read {
            auto table = readSweepTable(path.toStdString(), stop);
            if (!table)
                return std::unexpected(std::move(table.error()));
            auto columns = columnsOf(**table);
            return std::pair(std::move(*table), std::move(columns));
        },
        [this, path, stop = m_stop.get_token()](Read read) {
            --m_reading;
            if (stop.stop_requested())
                return;
            if (read)
                take(std::move(read->first), std::move(read->second));
            else
                Q_EMIT failed(path, read.error());
        });
}

void SweepResults::take(SweepTablePtr table, std::vector<SweepColumn> columns)
{
    m_queue.dispose(std::exchange(m_table, std::move(table)));
    m_columns = std::move(columns);
    m_feasible = std::size_t(std::ranges::count(m_table->states, SweepState::Feasible));
    Q_EMIT opened();
}

int SweepResults::column(std::string_view key) const
{
    const auto at = std::ranges::find(m_columns, key, &SweepColumn::key);
    return at == m_columns.end() ? -1 : int(at - m_columns.begin());
}

std::vector<std::size_t> SweepResults::front(int x, int y, const std::vector<char> &shown) const
{
    const SweepColumn &a = m_columns[std::size_t(x)], &b = m_columns[std::size_t(y)];
    if (a.better == SweepColumn::Better::Neither || b.better == SweepColumn::Better::Neither || x == y)
        return {};
    const auto cost = [](const SweepColumn &column, std::size_t row) {
        return column.better == SweepColumn::Better::Lower ? column.values[row] : -column.values[row];
    };
    std::vector<std::size_t> rowsBy;
    for (std::size_t row = 0; row < rows(); ++row)
        if (state(row) == SweepState::Feasible && !std::isnan(a.values[row]) && !std::isnan(b.values[row])
            && (shown.empty() || shown[row]))
            rowsBy.push_back(row);
    return paretoFront(
        std::move(rowsBy), [&](std::size_t row) { return cost(a, row); },
        [&](std::size_t row) { return cost(b, row); });
}

QString SweepResults::valuesText(std::size_t row) const
{
    QStringList parts;
    for (const SweepColumn &column : m_columns)
        if (column.isVaried)
            parts << column.label + u' ' + column.textOf(column.values[row]);
    return parts.join(QStringLiteral(", "));
}

QString SweepResults::describe(std::size_t row) const
{
    QString text = QStringLiteral("<b>%1</b>").arg(tr("Row %1").arg(row));
    const auto add = [&](const QString &name, const QString &value) {
        text += QStringLiteral("<br>%1: %2").arg(name.toHtmlEscaped(), value.toHtmlEscaped());
    };
    for (const SweepColumn &column : m_columns)
        if (column.isVaried)
            add(column.label, column.textOf(column.values[row]));
    for (const char *key : { "iteration_time_s", "tokens_per_s", "mfu", "memory.fill", "cost.usd_per_million_tokens",
             "cost.usd_per_hour", "jobs.makespan_s" })
        if (const int at = column(key); at >= 0 && !std::isnan(m_columns[std::size_t(at)].values[row]))
            add(m_columns[std::size_t(at)].label,
                m_columns[std::size_t(at)].textOf(m_columns[std::size_t(at)].values[row]));
    if (state(row) != SweepState::Feasible)
        text += QStringLiteral("<br><i>%1</i>").arg(QString::fromStdString(m_table->reason(row)).toHtmlEscaped());
    return text;
}

QString SweepResults::summary() const
{
    if (!m_table)
        return {};
    std::size_t counts[3] = {};
    for (const SweepState one : m_table->states)
        ++counts[std::size_t(one)];
    const auto number = [](std::uint64_t count) { return countOf(qint64(count), {}, {}).trimmed(); };
    QString text = tr("%1: %2 feasible, %3 infeasible, %4 refused")
                       .arg(countOf(qint64(rows()), tr("row"), tr("rows")), number(counts[0]), number(counts[1]),
                           number(counts[2]));
    if (!m_table->isDone())
        text += tr("; %1 to come: it was stopped, or goes on").arg(number(m_table->spec.rows() - rows()));
    return text;
}

} // namespace trainyard
